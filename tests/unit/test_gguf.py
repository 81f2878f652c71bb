"""The oracles of the quant tests (tests/browser/ggml.py) and the reader of GGUF headers against the gguf package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from gguf import quants

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
import ggml

from tabgpu.quant.files import Source
from tabgpu.quant.gguf import parse

KINDS = gguf.GGMLQuantizationType


PLAIN = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64"}


@pytest.mark.parametrize("name", ggml.SIZES)
def test_decoders(name: str) -> None:
    shape = (40, 512)
    raw = ggml.random_bytes(name, shape, 3)
    want = quants.dequantize(np.frombuffer(raw, np.uint8).reshape(40, -1), KINDS[name]).reshape(shape)
    assert (ggml.decode(name, raw, shape).view(np.uint32) == want.view(np.uint32)).all()
    assert ggml.SIZES[name] == tuple(gguf.GGML_QUANT_SIZES[KINDS[name]])


@pytest.mark.parametrize("name", [n for n in ggml.SIZES if not n.endswith("_K")])
def test_encoders(name: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((64, 256)) * rng.choice([1e-3, 1, 1e3], (64, 1))).astype(np.float32)
    x[3] = 0
    x[5, 7] = 1e4
    assert ggml.encode(name, x) == quants.quantize(x, KINDS[name]).tobytes()


def written(path: Path) -> gguf.GGUFWriter:
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_name("a näme")
    writer.add_token_list(["a", "bb", "", "ß"])
    writer.add_token_scores([0.5, -1.0, 2.0, 0.0])
    writer.add_array("dims", [1, 2, 3])
    writer.add_uint64("big", 1 << 40)
    writer.add_int8("small", -3)
    writer.add_bool("on", True)
    writer.add_float64("eps", 1e-12)
    rng = np.random.default_rng(0)
    writer.add_tensor("plain", rng.standard_normal((3, 5)).astype(np.float32))
    writer.add_tensor("half", rng.standard_normal(7).astype(np.float16))
    writer.add_tensor("i64", np.arange(4))
    for name in ("Q8_0", "Q4_K", "Q6_K", "BF16"):
        raw = np.frombuffer(ggml.random_bytes(name, (2, 4, 256)), np.uint8).reshape(2, 4, -1)
        writer.add_tensor(f"blk.{name}", raw, raw_dtype=KINDS[name])
    return writer


@pytest.mark.parametrize("align", [32, 64, 128])
def test_headers_are_read_as_the_package_reads_them(tmp_path: Path, align: int) -> None:
    path = tmp_path / "m.gguf"
    writer = written(path)
    if align != 32:
        writer.add_custom_alignment(align)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = path.read_bytes()
    metadata, entries, unknown = parse(data, Source(data))
    theirs = gguf.GGUFReader(path)
    fields = {k: f.contents() for k, f in theirs.fields.items() if not k.startswith("GGUF.")}
    assert metadata == fields and not unknown
    assert [e.name for e in entries] == [t.name for t in theirs.tensors]
    for e, t in zip(entries, theirs.tensors, strict=True):
        assert e.shape == tuple(reversed(t.shape.tolist())) and (e.start, e.nbytes) == (
            t.data_offset,
            t.n_bytes,
        )
        kind: Any = e.kind
        assert (kind if isinstance(kind, str) else kind.name).lower() in {
            t.tensor_type.name.lower(),
            PLAIN.get(t.tensor_type.name),
        }


def test_the_tests_own_files_are_gguf_files(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    raw = ggml.random_bytes("Q5_K", (3, 256))
    path.write_bytes(ggml.gguf_file({"w": ("Q5_K", (3, 256), raw)}, general__name="x", n=[1, 2]))
    theirs = gguf.GGUFReader(path)
    assert theirs.tensors[0].data.tobytes() == raw and theirs.fields["n"].contents() == [1, 2]
