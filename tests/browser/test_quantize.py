"""tg.quant.quantize: byte for byte where GGML rounds block by block, by its error where scales are searched."""

from __future__ import annotations

import ggml
import numpy as np
import pytest

import tabgpu as tg
from tabgpu import quant

EXACT = [n for n in ggml.SIZES if not n.endswith("_K")]
# Root mean square error of normally distributed weights, relative to theirs: the worst row of 512 (measured + 10 %).
WORST = {"Q2_K": 0.31, "Q3_K": 0.18, "Q4_K": 0.09, "Q5_K": 0.045, "Q6_K": 0.022}


def rows(n: int, k: int, seed: int = 0) -> np.ndarray:
    """Weights of several magnitudes, with blocks of zeros, of one value, of one sign and with an outlier."""
    rng = np.random.default_rng([seed, 4])
    x = rng.standard_normal((n, k)) * rng.choice([1e-3, 0.02, 1.0, 300.0], (n, 1))
    x[0, :32] = 0
    x[-1, -32:] = np.abs(x[-1, -32:])
    x[n // 2, 32:64] = 0.125
    x[n // 3, 5] *= 40
    return x.astype(np.float32)


@pytest.mark.limits
@pytest.mark.parametrize("name", EXACT)
async def test_bytes_are_ggmls(name: str) -> None:
    for shape in ((1, 32), (3, 96), (40, 160), (2, 3, 64)):
        x = rows(int(np.prod(shape[:-1])), shape[-1]).reshape(shape)
        W = quant.quantize(tg.asarray(x), name)
        raw = await W.tobytes()
        assert W.shape == shape and W.format == name
        assert raw == ggml.encode(name, x)
        got = await W.dequantize().numpy()
        assert (got.view(np.uint32) == ggml.decode(name, raw, shape).view(np.uint32)).all()


async def test_divisions_by_constants_are_exact() -> None:
    """A block whose step compilers rounded otherwise when they merged the division's parts."""
    x = rows(600, 2048, 3).reshape(-1, 32)[35747:35749]
    assert await quant.quantize(x, "Q5_1").tobytes() == ggml.encode("Q5_1", x)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
async def test_bytes_are_ggmls_in_many_blocks(name: str) -> None:
    x = rows(600, 2048, 3)
    assert await quant.quantize(x, name).tobytes() == ggml.encode(name, x)


@pytest.mark.limits
@pytest.mark.parametrize("name", WORST)
async def test_k_formats_are_near(name: str) -> None:
    """The error of each row within the bound of its format, also of odd numbers of blocks."""
    for n, k in ((1, 256), (9, 768)):
        x = np.random.default_rng(n).standard_normal((n, k)).astype(np.float32) * np.float32(0.03)
        W = quant.quantize(x, name)
        got = await W.dequantize().numpy()
        assert (got == ggml.decode(name, await W.tobytes(), (n, k))).all()
        error = np.sqrt(((got - x) ** 2).mean(-1) / (x**2).mean(-1))
        assert (error <= WORST[name]).all(), error.max()
        assert error.mean() > WORST[name] / 3  # so that the bound means something


async def test_k_formats_of_special_blocks() -> None:
    """Zeros stay zero, one value and one sign are kept to a step, an outlier spoils its own part only."""
    x = np.zeros((4, 256), np.float32)
    x[1] = 0.5
    x[2] = np.linspace(0.1, 1, 256)
    x[3] = np.random.default_rng(0).standard_normal(256)
    x[3, 40] = 30
    for name, worst in WORST.items():
        got = await quant.quantize(x, name).dequantize().numpy()
        assert not got[0].any(), name
        error = np.sqrt(((got - x) ** 2).mean(-1))
        assert error[1] <= 0.02 and error[2] <= worst, (name, error)
        rest = np.r_[64:256]
        assert np.sqrt(((got[3, rest] - x[3, rest]) ** 2).mean()) <= 4 * worst, name


async def test_quantize_takes_views_and_other_dtypes() -> None:
    x = rows(6, 128)
    g = tg.asarray(x)
    assert await quant.quantize(g[::2], "Q8_0").tobytes() == ggml.encode("Q8_0", x[::2])
    assert await quant.quantize(tg.asarray(x.T.copy()).T, "Q4_1").tobytes() == ggml.encode("Q4_1", x)
    half = x.astype(np.float16)
    assert await quant.quantize(tg.asarray(half), "Q5_0").tobytes() == ggml.encode(
        "Q5_0", half.astype(np.float32)
    )
    assert await quant.quantize(np.arange(64).reshape(2, 32), "Q8_0").tobytes() == ggml.encode(
        "Q8_0", np.arange(64).reshape(2, 32)
    )
    assert quant.quantize(tg.zeros((0, 64)), "Q4_0").shape == (0, 64)
    for name in ("F16", "BF16", "F32"):
        assert await quant.quantize(g[1:3], name).tobytes() == ggml.floats(name, x[1:3])
        assert await quant.quantize(tg.zeros((2, 8)), name).tobytes() == bytes(
            16 * (4 if name == "F32" else 2)
        )
    with pytest.raises(ValueError, match="rows of 100 weights are not whole Q4_0 blocks of 32"):
        quant.quantize(tg.zeros((3, 100)), "Q4_0")
    with pytest.raises(TypeError, match="needs real numbers"):
        quant.quantize(tg.zeros((3, 32), dtype="complex64"), "Q4_0")


async def test_products_of_what_was_quantised() -> None:
    """End to end: quantise, multiply, without a read between."""
    x, w = (np.random.default_rng(5).standard_normal((n, 256)).astype(np.float32) for n in (20, 24))
    for name, bound in (("Q8_0", 0.01), ("Q4_K", 0.1)):
        y = await quant.linear(tg.asarray(x), quant.quantize(w, name)).numpy()
        want = x.astype(np.float64) @ w.T
        assert np.sqrt(((y - want) ** 2).mean() / (want**2).mean()) <= bound
