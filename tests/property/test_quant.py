"""Quantised weights of any format, shape and slice: decoded, multiplied, picked and quantised."""

from __future__ import annotations

import ggml
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tabgpu as tg
from tabgpu import quant

FORMATS = st.sampled_from(list(ggml.SIZES))


@given(FORMATS, st.integers(1, 70), st.integers(1, 4), st.integers(0, 99), st.data())
def test_slices_of_any_format(name: str, n: int, blocks: int, seed: int, data: st.DataObject) -> None:
    k = max(32, ggml.SIZES[name][0]) * blocks
    raw = ggml.random_bytes(name, (n, k), seed)
    W, want = quant.from_bytes(raw, name, (n, k)), ggml.decode(name, raw, (n, k))
    a = data.draw(st.integers(0, n - 1))
    b = data.draw(st.integers(a + 1, n))
    part, rows = W[a:b], want[a:b].astype(np.float64)
    assert (np.asarray(part.dequantize()).view(np.uint32) == want[a:b].view(np.uint32)).all()
    m = data.draw(st.integers(1, 40))
    x = np.random.default_rng(seed).standard_normal((m, k)).astype(np.float32)
    bound = 2e-6 * np.sqrt(k) * np.abs(rows).max() + 1e-30
    assert np.abs(np.asarray(quant.matvec(part, x[0])) - rows @ x[0]).max() <= bound
    assert np.abs(np.asarray(quant.matmul(x, part)) - x @ rows.T).max() <= bound
    ids = data.draw(st.lists(st.integers(-(b - a), b - a - 1), min_size=1, max_size=9))
    assert (np.asarray(part[ids]) == want[a:b][ids]).all()


EXACT = st.sampled_from([f for f in ggml.SIZES if not f.endswith("_K")])


@given(EXACT, st.integers(1, 9), st.integers(1, 9), st.data())
def test_quantize_is_ggmls(name: str, n: int, blocks: int, data: st.DataObject) -> None:
    seed, power = data.draw(st.integers(0, 999)), data.draw(st.integers(-20, 12))
    x = np.random.default_rng(seed).standard_normal((n, 32 * blocks)) * 2.0**power
    x = np.where(np.random.default_rng(seed + 1).random(x.shape) < 0.3, np.round(x), x).astype(np.float32)
    W = quant.quantize(tg.asarray(x), name)
    raw = ggml.encode(name, x)
    assert (np.asarray(W.dequantize()) == ggml.decode(name, raw, x.shape)).all()
    assert tg.engine.wait_for(W.tobytes(), "tobytes", "await W.tobytes()") == raw
