"""tg.linalg.blas and tg.lax beside PyTorch: addmm, baddbmm, addmv, addr, 16-bit products, diag_embed, index_add."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

import tabgpu as tg
from tabgpu import lax
from tabgpu.linalg import blas

R = np.random.default_rng(8)
SIZES = [(1, 1, 1), (5, 7, 3), (33, 65, 17), (1, 64, 200), (70, 1, 9), (16, 16, 16), (4, 4, 0)]


def f32(*shape: int) -> Any:
    return R.standard_normal(shape).astype(np.float32)


def close(got: tg.Array, want: Any, tolerance: float = 2e-6) -> None:
    """Relative to the greatest value."""
    wide = want.resolve_conj().numpy()
    host = np.asarray(got.astype(tg.float32) if got.dtype in (tg.float16, tg.bfloat16) else got)
    assert host.shape == wide.shape
    if wide.size:
        assert np.abs(host - wide).max() <= tolerance * max(np.abs(wide).max(), 1)


@pytest.mark.parametrize("sizes", SIZES)
def test_addmm(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    for ta, tb, (alpha, beta) in itertools.product((0, 1), (0, 1), [(1.0, 1.0), (0.5, -2.0), (2.0, 0.0)]):
        a, b, c = f32(*((k, m) if ta else (m, k))), f32(*((n, k) if tb else (k, n))), f32(m, n)
        x, y = (torch.tensor(v).double() for v in (a, b))
        want = torch.addmm(
            torch.tensor(c).double(), x.T if ta else x, y.T if tb else y, beta=beta, alpha=alpha
        )
        close(blas.gemm(alpha, a, b, beta, c, ta, tb), want)
        row = torch.addmm(
            torch.tensor(c[0]).double(), x.T if ta else x, y.T if tb else y, beta=beta, alpha=alpha
        )
        close(blas.gemm(alpha, a, b, beta, c[0], ta, tb), row)  # c broadcasts, as torch's bias
    nan = np.full((m, n), np.nan, np.float32)
    assert not np.isnan(np.asarray(blas.gemm(1, f32(m, k), f32(k, n), 0, nan))).any()


@pytest.mark.parametrize("batch", [0, 1, 3, 17])
def test_baddbmm_and_vectors(batch: int) -> None:
    a, b, c = f32(batch, 6, 9), f32(batch, 9, 4), f32(batch, 6, 4)
    x, y, z = (torch.tensor(v).double() for v in (a, b, c))
    close(blas.batched_gemm(0.5, a, b, 1.5, c), torch.baddbmm(z, x, y, beta=1.5, alpha=0.5))
    close(blas.batched_gemm(1, a, b), torch.bmm(x, y))
    m, v, w = f32(6, 9), f32(9), f32(6)
    p, q, r = (torch.tensor(t).double() for t in (m, v, w))
    close(blas.gemv(2.0, m, v, -1.0, w), torch.addmv(r, p, q, beta=-1, alpha=2))
    close(blas.ger(3.0, w, v, m), torch.addr(p, r, q, alpha=3))
    close(blas.nrm2(v), torch.linalg.vector_norm(q))
    close(blas.dot(v, v), torch.dot(q, q))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_products_of_16_bits(name: str) -> None:
    kind = getattr(torch, name)
    for m, n, k in [(9, 17, 40), (1, 64, 300), (64, 32, 1000)]:
        x, y = (torch.tensor(f32(*s)).to(kind) for s in ((m, k), (k, n)))
        a, b = (tg.asarray(v.float().numpy()).astype(name) for v in (x, y))
        want = x.double() @ y.double()
        close(blas.gemm(1, a, b, out_dtype="float32"), want)
        close(blas.gemm(1, a, b), want, 2.0**-8 if name == "bfloat16" else 2.0**-11)


def test_conjugates() -> None:
    a, b = f32(5, 6) + 1j * f32(5, 6), f32(5, 7) + 1j * f32(5, 7)
    x, y = torch.tensor(a).to(torch.complex128), torch.tensor(b).to(torch.complex128)
    close(blas.gemm(1, a, b, trans_a="C"), x.mH @ y, 4e-6)
    close(blas.herk(1, a), x @ x.mH, 4e-6)
    close(blas.dotc(a[0], a[1]), torch.vdot(x[0], x[1]), 4e-6)


@pytest.mark.parametrize("offset", [-3, -1, 0, 2])
def test_diagonals_and_updates(offset: int) -> None:
    x = f32(2, 3, 4)
    for a, b in [(-2, -1), (0, 2), (3, 0)]:
        close(lax.embed_diagonal(x, a, b, offset), torch.diag_embed(torch.tensor(x), offset, a, b), 0)
    table, index, new = f32(9, 4), R.integers(0, 9, 30), f32(30, 4)
    rows = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    want = torch.tensor(table).double().index_add(0, torch.tensor(index), torch.tensor(new).double())
    close(lax.scatter_add(table, index[:, None].astype(np.int32), new, rows), want)
    most = torch.tensor(table).index_reduce(0, torch.tensor(index), torch.tensor(new), "amax")
    close(lax.scatter_max(table, index[:, None].astype(np.int32), new, rows), most, 0)
