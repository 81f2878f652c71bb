"""What the readers give for every dtype: NumPy arrays, lists and scalars, bytes, memoryviews; also without NumPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import engine

RNG = np.random.default_rng(11)
SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (2, 3), (5, 1, 2), (0,), (2, 0), (0, 3), (3, 0, 2)]
DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "uint8",
    "uint16",
    "uint32",
    "float16",
    "float32",
    "complex64",
    "bfloat16",
)


def pair(dtype: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The same values on the host (bfloat16 as float32 with 8 bits) and on the GPU."""
    kind = np.dtype("float32" if dtype == "bfloat16" else dtype)
    if kind.kind == "b":
        h = RNG.random(shape) < 0.5
    elif kind.kind in "iu":
        info = np.iinfo(kind)
        h = RNG.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    else:
        h = RNG.standard_normal(shape) * 100
        h = h + 1j * RNG.standard_normal(shape) if kind.kind == "c" else h
    h = np.asarray(h).astype(kind)
    if dtype == "bfloat16":
        h = np.asarray(
            (h.view(np.uint32) if h.ndim else h.reshape(1).view(np.uint32)) & 0xFFFF0000, np.uint32
        )
        h = h.view(np.float32).reshape(shape)
    return h, tg.asarray(h).astype(dtype)


def views(x: Any) -> list[Any]:
    """The array and, where there are axes, views of it."""
    return [x] if not x.ndim else [x, x[::-1], x.T, x[1:]]


@pytest.mark.parametrize("dtype", DTYPES)
async def test_every_form(dtype: str) -> None:
    for shape in SHAPES:
        host, array = pair(dtype, shape)
        for h, g in zip(views(host), views(array), strict=True):
            got = await g.numpy()
            assert got.dtype == h.dtype and got.shape == h.shape and np.array_equal(got, h)
            assert await g.tolist() == h.tolist() and type(await g.tolist()) is type(h.tolist())
            raw = (
                (np.ascontiguousarray(h).view(np.uint32) >> 16).astype(np.uint16)
                if dtype == "bfloat16"
                else h
            )
            assert await g.tobytes() == raw.tobytes(), (shape, g.shape)
            seen = await g.memoryview()
            if 0 in h.shape:
                assert seen.nbytes == 0
                continue
            words = {"float16": np.uint16, "bfloat16": np.uint16, "complex64": np.float32}.get(dtype)
            flat = np.ascontiguousarray(raw).reshape(-1)
            want = (
                raw
                if words is None
                else flat.view(words).reshape((*h.shape, 2) if dtype == "complex64" else h.shape)
            )
            assert seen.shape == want.shape and np.array_equal(np.asarray(seen), want) and not seen.readonly


async def test_special_values() -> None:
    """Infinities, NaN, -0 and the smallest numbers of the 16-bit floats, decoded by hand."""
    h = np.float16([np.inf, -np.inf, np.nan, -0.0, 6e-8, 65504, 1 / 3])
    got = await tg.asarray(h).tolist()
    assert (
        got[:2] == [np.inf, -np.inf]
        and got[2] != got[2]
        and str(got[3]) == "-0.0"
        and got[4:] == h[4:].tolist()
    )
    b = np.uint32([0x7F800000, 0xFF800000, 0x7FC00000, 0x80000000, 0x00010000, 0x7F7F0000, 0x3EAB0000]).view(
        np.float32
    )
    got = await tg.asarray(b).astype(tg.bfloat16).tolist()
    assert got[:2] == [np.inf, -np.inf] and got[2] != got[2] and str(got[3]) == "-0.0"
    assert got[5:] == b[5:].tolist()


async def test_items() -> None:
    h = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    g = tg.asarray(h)
    for index in ((5,), (-1,), ((1, 2, 3),), (1, 0, 2), ((0, -1, -4),), (np.int64(7),)):
        assert await g.item(*index) == h.item(*index)
    for k in (0, 7, -2):
        assert await g.T.item(k) == h.T.item(k) and await g[::-1].item(k) == h[::-1].item(k)
    assert await g[0, 1].item(2) == 6 and type(await tg.asarray(1 + 2j).item()) is complex
    for bad, error in (
        ((24,), IndexError),
        ((0, 0), ValueError),
        ((2, 0, 0), IndexError),
        (("x",), TypeError),
    ):
        with pytest.raises(error):
            await g.item(*bad)
    with pytest.raises(ValueError, match=r"\(2, 3, 4\)"):
        await g.item()
    before = tg.memory()["bytes_read"]
    await tg.arange(1_000_000).item(77)
    assert tg.memory()["bytes_read"] - before == 4


async def test_memory_is_the_readers_own() -> None:
    g = tg.arange(4)
    seen = await g.memoryview()
    seen[0] = 9
    assert await g.tolist() == [0, 1, 2, 3]


async def test_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """P16: lists, bytes and memoryviews; numpy() says what else there is."""
    arrays = {d: pair(d, (2, 3)) for d in DTYPES}
    monkeypatch.setitem(sys.modules, "numpy", None)
    for dtype, (h, g) in arrays.items():
        assert await g.tolist() == h.tolist() and len(await g.tobytes()) == g.nbytes
        (seen,) = await tg.fetch(g)
        assert isinstance(seen, memoryview) and seen.nbytes == g.nbytes
        assert (
            await g[1, 2].item() == h[1, 2].item()
            and await g.sum(dtype="float32" if dtype == "bool" else None).item()
        )
    with pytest.raises(ModuleNotFoundError, match=r"await a\.tolist\(\)"):
        await g.numpy()
    if engine.can_suspend():
        assert float(tg.arange(4).sum()) == 6 and bool(tg.asarray(1)) and "[0, 1, 2]" in repr(tg.arange(3))
    made = tg.asarray([[1, 2], [3, 4]], dtype=tg.int8)
    assert await (made * 2).tolist() == [[2, 4], [6, 8]]
    assert await tg.asarray(memoryview(bytes([1, 2, 3]))).tolist() == [1, 2, 3]
