"""Quantised weights larger than a storage binding: work goes by windows; what cannot is refused before it starts."""

from __future__ import annotations

import ggml
import numpy as np
import pytest
from test_limits import narrow  # noqa: F401  # a fixture: bindings of 64 KiB

import tabgpu as tg
from tabgpu import quant
from tabgpu.errors import LimitError


def weights(name: str, n: int, k: int) -> tuple[quant.QTensor, np.ndarray]:
    raw = ggml.random_bytes(name, (n, k))
    return quant.from_bytes(raw, name, (n, k)), ggml.decode(name, raw, (n, k))


@pytest.mark.parametrize("name,n,k", [("Q8_0", 70, 2048), ("Q6_K", 301, 512), ("Q4_0", 90, 4096)], ids=str)
async def test_rows_are_windows(name: str, n: int, k: int, narrow: None) -> None:  # noqa: F811
    W, want = weights(name, n, k)
    assert W.nbytes > 65536
    assert (await W.dequantize().numpy() == want).all()
    assert (await W[3:].dequantize().numpy() == want[3:]).all()
    x = np.random.default_rng(0).standard_normal((5, k)).astype(np.float32)
    bound = 1e-5 * np.sqrt(((want.astype(np.float64) @ x[0]) ** 2).mean())
    assert np.abs(await quant.matvec(W, x[0]).numpy() - want.astype(np.float64) @ x[0]).max() < bound
    assert np.abs(await quant.matvec(W[7:], x[0]).numpy() - want[7:].astype(np.float64) @ x[0]).max() < bound
    assert np.abs(await quant.matmul(x, W).numpy() - x.astype(np.float64) @ want.T).max() < 3 * bound
    with pytest.raises(LimitError, match=r"quant.rows: .* binds [\d,]+ bytes whole"):
        await quant.take_rows(W, [0, 1]).numpy()


@pytest.mark.parametrize("name", ["Q8_0", "Q5_1", "Q4_0"])
async def test_quantize_goes_by_windows(name: str, narrow: None) -> None:  # noqa: F811
    x = np.random.default_rng(1).standard_normal((67, 1056)).astype(np.float32)
    assert await quant.quantize(tg.asarray(x), name).tobytes() == ggml.encode(name, x)


async def test_k_formats_by_windows(narrow: None) -> None:  # noqa: F811
    x = np.random.default_rng(1).standard_normal((301, 512)).astype(np.float32)
    W = quant.quantize(x, "Q6_K")
    got = await W.dequantize().numpy()
    assert (got == ggml.decode("Q6_K", await W.tobytes(), x.shape)).all()
    assert np.sqrt(((got - x) ** 2).mean()) < 0.022
