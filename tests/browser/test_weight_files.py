"""load_gguf and load_safetensors from bytes and files: what comes, what errors say, what stays after a failure."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import ggml
import numpy as np
import pytest

import tabgpu as tg
from tabgpu import engine, quant
from tabgpu.quant import files

SHAPES = {name: (6, max(32, size[0])) for name, size in ggml.SIZES.items()}


def whole(**metadata: Any) -> tuple[bytes, dict[str, np.ndarray]]:
    """(a GGUF file with a tensor of each format, what they are)."""
    tensors, want = {}, {}
    for name, shape in SHAPES.items():
        raw = ggml.random_bytes(name, shape)
        tensors[f"blk.{name}.weight"] = name, shape, raw
        want[f"blk.{name}.weight"] = ggml.decode(name, raw, shape)
    for name, x in {
        "I8": np.int8([1, -2, 3]),
        "I64": np.int64([[5, -6]]),
        "F64": np.array([0.5, 1e-3]),
    }.items():
        tensors[name] = name, x.shape, x.tobytes()
        want[name] = x.astype(np.float32)
    return ggml.gguf_file(tensors, **metadata), want


async def are(weights: quant.Weights, want: dict[str, np.ndarray]) -> None:
    assert list(weights) == list(want)
    for name, w in weights.items():
        x = w.dequantize() if isinstance(w, quant.QTensor) else w
        assert x.shape == want[name].shape, name
        assert (await x.astype("float32").numpy() == want[name]).all(), name


async def test_gguf_from_bytes() -> None:
    keys = {
        "general__name": "Ein Modell",
        "a__list": [1, 2, 3],
        "tokens": ["a", "ß", ""],
        "eps": 1e-5,
        "on": True,
    }
    data, want = whole(**keys, big=1 << 40)
    seen: list[tuple[int, int, str]] = []
    weights = await quant.load_gguf(data, progress=lambda *about: seen.append(about))
    await are(weights, want)
    assert weights.metadata == {k.replace("__", "."): v for k, v in keys.items()} | {"big": 1 << 40}
    assert isinstance(weights["blk.Q4_K.weight"], quant.QTensor) and weights["I64"].dtype == tg.int32
    assert weights["blk.F16.weight"].dtype == tg.float16 and weights["blk.BF16.weight"].dtype == tg.bfloat16
    dones = [done for done, _, _ in seen]
    assert (
        dones == sorted(dones) and seen[-1][0] == seen[-1][1] and {name for _, _, name in seen} == set(want)
    )


async def test_gguf_some_names(capsys: Any) -> None:
    data, want = whole(general__alignment=64)
    some = ["blk.Q8_0.weight", "I8"]
    await are(await quant.load_gguf(bytearray(data), names=reversed(some)), {k: want[k] for k in some})
    got = await quant.load_gguf(memoryview(data), names=lambda name: "K" in name, progress=True)
    await are(got, {k: v for k, v in want.items() if "K" in k})
    assert "MB" in capsys.readouterr().err
    with pytest.raises(KeyError, match="no tensor 'blk.Q9'"):
        await quant.load_gguf(data, names=["blk.Q9"])


async def test_gguf_from_a_path(tmp_path: Path) -> None:
    data, want = whole()
    (tmp_path / "m.gguf").write_bytes(data)
    await are(await quant.load_gguf(tmp_path / "m.gguf"), want)
    await are(await quant.load_gguf(str(tmp_path / "m.gguf")), want)


async def test_large_tensors_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is under way at once is bounded, whatever the tensors' sizes are."""
    monkeypatch.setattr(files, "PIECE", 4096)
    monkeypatch.setattr(files, "NEAR", 64)
    reads: list[int] = []
    read = files.Source.read

    async def noted(self: files.Source, start: int, n: int) -> Any:
        reads.append(n)
        return await read(self, start, n)

    monkeypatch.setattr(files.Source, "read", noted)
    shapes = {"Q8_0": (37, 512), "Q3_K": (33, 256), "F16": (55, 333), "F32": (3, 5)}
    raws = {name: ggml.random_bytes(name, shape) for name, shape in shapes.items()}
    data = ggml.gguf_file({name: (name, shape, raws[name]) for name, shape in shapes.items()})
    weights = await quant.load_gguf(data)
    await are(weights, {name: ggml.decode(name, raws[name], shape) for name, shape in shapes.items()})
    assert max(reads[1:]) <= 4096 and len(reads) > 10
    x = np.ones(512, np.float32)
    y = await quant.matvec(weights["Q8_0"], x).numpy()  # type: ignore[arg-type]
    assert np.abs(y - ggml.decode("Q8_0", raws["Q8_0"], shapes["Q8_0"]).astype(np.float64) @ x).max() < 1e-4


async def test_what_is_truncated_or_foreign_is_said_and_leaves_nothing() -> None:
    data, _ = whole()
    header = data.index(b"F64") + 40
    cases: list[tuple[bytes, str]] = [
        (b"", "no GGUF file"),
        (data[:3], "no GGUF file"),
        (b"PK\x03\x04" + data, "it begins with b'PK"),
        (data[:10], "truncated: it ends after 10 bytes"),
        (data[: header // 2], "truncated: it ends after .* its header"),
        (data[:-200], "truncated: it ends after .* tensor '(I64|F64|I8|blk.Q6_K.weight|blk.Q5_K.weight)' needs"),
        (data[:4] + b"\x01\0\0\0" + data[8:], "GGUF version 1 is not known"),
        (data[:4] + b"\0\0\0\x03" + data[8:], "big-endian"),
        (data[:8] + b"\xff" * 8 + data[16:], "more than are left|truncated|no text|axes"),
        (data.replace(b"blk.Q4_K.weight\x02", b"blk.Q4_K.weight\x63"), "'blk.Q4_K.weight' is said to have 99 axes"),
        (data.replace(b"blk.Q4_K.weight", b"blk.Q5_K.weight"), "same name"),
    ]  # fmt: skip
    gc.collect()
    await tg.synchronize()
    live = engine.device().live_bytes
    for bad, message in cases:
        with pytest.raises(quant.WeightFileError, match=message) as caught:
            await quant.load_gguf(bad)
        assert isinstance(caught.value, ValueError) and engine.device().live_bytes == live
    unknown = data.replace(b"blk.Q4_K.weight\x02\0\0\0", b"blk.Q4_K.weight\x02\0\0\0")
    at = unknown.index(b"blk.Q4_K.weight") + 15 + 4 + 16
    unknown = unknown[:at] + b"\x17" + unknown[at + 1 :]
    with pytest.raises(quant.WeightFileError, match="'blk.Q4_K.weight' has the unknown GGML type 23"):
        await quant.load_gguf(unknown)
    assert len(await quant.load_gguf(unknown, names=["I8"])) == 1
    with pytest.raises(OSError):
        await quant.load_gguf("/nowhere/m.gguf")


async def test_a_failure_midway_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that ends while it is read (its size was not known before): tensors loaded so far are dropped."""
    monkeypatch.setattr(files, "PIECE", 4096)
    data, _ = whole()
    source = files.Source(data[:-2000])
    source.size = None
    gc.collect()
    await tg.synchronize()
    live = engine.device().live_bytes
    with pytest.raises(quant.WeightFileError, match="truncated: it ends after") as caught:
        await quant.load_gguf(source)
    assert caught.tb is not None  # which still holds the frames
    gc.collect()
    assert engine.device().live_bytes == live


async def test_safetensors() -> None:
    rng = np.random.default_rng(0)
    arrays = {
        "F32": rng.standard_normal((5, 7)).astype(np.float32), "F16": rng.standard_normal(3).astype(np.float16),
        "BOOL": np.array([True, False, True]), "U8": np.arange(5, dtype=np.uint8), "I16": np.int16([[1], [-2]]),
        "I64": np.arange(-3, 3, dtype=np.int64), "F64": np.array(0.25), "C64": np.array([1 + 2j], np.complex64),
        "U32": np.uint32([4_000_000_000]), "I32": np.int32([-5]),
    }  # fmt: skip
    tensors = {f"x.{kind}": (kind, x.shape, x.tobytes()) for kind, x in arrays.items()}
    tensors["x.BF16"] = "BF16", (4,), ggml.floats("BF16", np.float32([1, -2, 0.5, 3]))
    tensors["x.empty"] = "F32", (0, 3), b""
    data = ggml.safetensors_file(tensors, format="pt")
    weights = await quant.load_safetensors(data)
    assert weights.metadata == {"format": "pt"} and list(weights) == list(tensors)
    for kind, x in arrays.items():
        got = weights[f"x.{kind}"]
        assert isinstance(got, tg.Array) and got.shape == x.shape
        assert (await got.numpy() == x).all(), kind
    assert (await weights["x.BF16"].numpy()).tolist() == [1, -2, 0.5, 3]  # type: ignore[union-attr]
    assert weights["x.BF16"].dtype == tg.bfloat16 and weights["x.I64"].dtype == tg.int32  # type: ignore[union-attr]
    assert weights["x.empty"].shape == (0, 3)
    assert list(await quant.load_safetensors(data, names=["x.I64"])) == ["x.I64"]


async def test_safetensors_that_are_wrong() -> None:
    good = ggml.safetensors_file(
        {"a": ("F32", (2, 3), bytes(24)), "b": ("I64", (1,), (1 << 40).to_bytes(8, "little"))}
    )
    cases = [
        (b"", "ends after 0 bytes, the length of its header needs 8"),
        (good[:30], "truncated or no safetensors file: it says its header has"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "no safetensors file"),
        ((5).to_bytes(8, "little") + b"hello", "its header is no JSON"),
        ((2).to_bytes(8, "little") + b"[]", "its header is no object"),
        (good[:-1], "tensor 'b' needs"),
        (
            good.replace(b"[2, 3]", b"[2, 4]"),
            r"tensor 'a' of F32 and shape \(2, 4\) is said to lie from 0 to 24",
        ),
        (good.replace(b'"F32"', b'"F9x"'), "tensor 'a' has dtype F9x, which is not known here"),
        (good.replace(b'"shape"', b'"shapE"'), "tensor 'a' is described as"),
        (good, r"'b': 1099511627776 of int64 does not fit int32"),
    ]
    gc.collect()
    await tg.synchronize()
    live = engine.device().live_bytes
    for bad, message in cases:
        with pytest.raises(quant.WeightFileError, match=message):
            await quant.load_safetensors(bad)
        gc.collect()
        assert engine.device().live_bytes == live, message


def described(**entry: Any) -> bytes:
    """A safetensors file whose one tensor is described otherwise than it is."""
    one = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **entry}
    text = json.dumps({"a": one}).encode().replace(b'"1e999"', b"1e999")
    return len(text).to_bytes(8, "little") + text + bytes(8)


async def test_hostile_headers() -> None:
    """What a header says in another type than it should, or too deep for a parser, is a WeightFileError too."""
    entries: list[dict[str, Any]] = [
        {"shape": [-1, -2]}, {"shape": [2.0]}, {"shape": "2"}, {"shape": [True, 2]}, {"shape": ["1e999"]},
        {"shape": [0, 1 << 70], "data_offsets": [0, 0]}, {"data_offsets": "08"}, {"data_offsets": [-8, 0]},
        {"dtype": []}, {"dtype": None}, {"dtype": {}},
    ]  # fmt: skip
    for entry in entries:
        with pytest.raises(quant.WeightFileError, match="tensor 'a' is described as"):
            await quant.load_safetensors(described(**entry))
    for kind in ("016", "float32", "float64", ""):
        with pytest.raises(quant.WeightFileError, match="which is not known here"):
            await quant.load_safetensors(described(dtype=kind))
    for text, message in (
        (b"[" * 200_000, "its header is no JSON"),
        (b'{"a":' * 100_000, "its header is no JSON .more than 16 levels"),
        (b'{"]}]}":[[],' + b"[[]," * 100_000, "its header is no JSON .more than 16 levels"),
        (b'{"__metadata__":"x"}', "__metadata__ is no object"),
    ):
        with pytest.raises(quant.WeightFileError, match=message):
            await quant.load_safetensors(len(text).to_bytes(8, "little") + text)
    deep = b"\x01" + bytes(7) + b"k" + (9).to_bytes(4, "little")
    deep += ((9).to_bytes(4, "little") + (1).to_bytes(8, "little")) * 50_000
    start = b"GGUF" + (3).to_bytes(4, "little") + bytes(8) + (1).to_bytes(8, "little")
    with pytest.raises(quant.WeightFileError, match="key 'k' at byte .* has the unknown type 9"):
        await quant.load_gguf(start + deep)


@pytest.mark.parametrize("piece", [64, files.PIECE])
async def test_tensors_that_overlap(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is what its own bytes are: a short one within a long one cuts nothing off."""
    monkeypatch.setattr(files, "PIECE", piece)
    x = np.arange(100, dtype=np.float32)
    spans = {"all": (0, 100), "first": (0, 1), "none": (0, 0), "part": (10, 20), "later": (25, 45)}
    header = {
        name: {"dtype": "F32", "shape": [b - a], "data_offsets": [4 * a, 4 * b]}
        for name, (a, b) in spans.items()
    }
    text = json.dumps(header).encode()
    weights = await quant.load_safetensors(len(text).to_bytes(8, "little") + text + x.tobytes())
    for name, (a, b) in spans.items():
        assert (await weights[name].numpy() == x[a:b]).all() and weights[name].shape == (b - a,)  # type: ignore[union-attr]
