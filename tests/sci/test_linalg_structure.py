"""Special matrices, predicates, orderings and chains of tg.linalg beside SciPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg as sl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

import tabgpu as tg

rng = np.random.default_rng(0)


def narrow(x: np.ndarray) -> np.dtype:
    """The dtype that tabgpu has for what SciPy gives."""
    names = {"f": "float32", "c": "complex64", "i": "int32", "u": "uint32", "b": "bool"}
    return np.dtype(
        x.dtype.name if x.dtype.itemsize <= 4 or x.dtype.name == "complex64" else names[x.dtype.kind]
    )


def same(got: tg.Array, want: np.ndarray, rtol: float = 3e-7) -> None:
    want = np.asarray(want)
    got = np.asarray(got)
    assert got.shape == want.shape
    assert got.dtype == narrow(want), (got.dtype, want.dtype)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * (np.abs(want).max() if want.size else 0))


def vector(n: int, kind: str, *lead: int) -> np.ndarray:
    if kind == "i":
        return rng.integers(-9, 9, (*lead, n)).astype("int32")
    x = rng.standard_normal((*lead, n))
    return (
        (x + 1j * rng.standard_normal((*lead, n))).astype("complex64") if kind == "c" else x.astype("float32")
    )


@pytest.mark.parametrize("kind", "ifc")
def test_striped(kind: str) -> None:
    for n, m in ((1, 1), (4, 4), (5, 3), (2, 7), (33, 1)):
        c, r = vector(n, kind), vector(m, kind)
        for function, ours in ((sl.toeplitz, tg.linalg.toeplitz), (sl.hankel, tg.linalg.hankel)):
            same(ours(tg.asarray(c), tg.asarray(r)), function(c, r))
            same(ours(tg.asarray(c)), function(c))
            same(ours(tg.asarray(c)[::-1]), function(c[::-1]))
        same(tg.linalg.circulant(tg.asarray(c)), sl.circulant(c))
        for mode in ("full", "same", "valid"):
            for size in (1, 3, 6):
                same(
                    tg.linalg.convolution_matrix(tg.asarray(c), size, mode),
                    sl.convolution_matrix(c, size, mode),
                )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = vector(4, kind, 2, 3)
        same(tg.linalg.circulant(tg.asarray(c)), sl.circulant(c))
        same(tg.linalg.toeplitz(tg.asarray(c)), sl.toeplitz(c))
        same(tg.linalg.convolution_matrix(tg.asarray(c), 3, "same"), sl.convolution_matrix(c, 3, "same"))


@pytest.mark.parametrize("kind", "ifc")
def test_companions(kind: str) -> None:
    for n in (2, 3, 4, 5, 6, 9):
        a = vector(n, kind)
        a[0] = 2
        want = sl.companion(a.astype("complex128" if kind == "c" else "float64"))
        same(tg.linalg.companion(tg.asarray(a)), want)
        want = sl.fiedler_companion(a.astype("complex128" if kind == "c" else "float64"))
        same(tg.linalg.fiedler_companion(tg.asarray(a)), want)
    a = vector(5, kind, 3) + np.float32(20)
    want = sl.companion(a.astype("complex128" if kind == "c" else "float64"))
    same(tg.linalg.companion(tg.asarray(a)), want)


def test_by_size() -> None:
    for n in (0, 1, 2, 3, 5, 8, 16):
        if n:
            same(tg.linalg.dft(n), sl.dft(n))
            same(tg.linalg.dft(n, scale="sqrtn"), sl.dft(n, scale="sqrtn"))
            same(tg.linalg.helmert(n), sl.helmert(n))
            same(tg.linalg.helmert(n, full=True), sl.helmert(n, full=True))
            same(tg.linalg.invhilbert(min(n, 6), exact=True), sl.invhilbert(min(n, 6), exact=True))
        same(tg.linalg.hilbert(n), sl.hilbert(n))
        if n:
            same(tg.linalg.invhilbert(n), sl.invhilbert(n))
        for kind in ("symmetric", "lower", "upper"):
            same(tg.linalg.pascal(n, kind), sl.pascal(n, kind).astype("int64"))
            same(tg.linalg.pascal(n, kind, exact=False), sl.pascal(n, kind, exact=False))
            if n <= 8:
                same(tg.linalg.invpascal(n, kind), sl.invpascal(n, kind).astype("int64"))
                same(
                    tg.linalg.invpascal(n, kind, exact=False), sl.invpascal(n, kind, exact=False).astype("f")
                )
        if n and not n & (n - 1):
            same(tg.linalg.hadamard(n), sl.hadamard(n))
            same(tg.linalg.hadamard(n, dtype="float32"), sl.hadamard(n, dtype="float32"))


@pytest.mark.parametrize("kind", "ifc")
def test_of_vectors_and_blocks(kind: str) -> None:
    f, s = vector(6, kind), vector(5, kind)
    same(tg.linalg.leslie(tg.asarray(f), tg.asarray(s)), sl.leslie(f, s))
    same(tg.linalg.fiedler(tg.asarray(f)), sl.fiedler(f))
    a, b = vector(4, kind, 3), vector(4, kind, 5)
    same(tg.linalg.khatri_rao(tg.asarray(a), tg.asarray(b)), sl.khatri_rao(a, b))
    for some in ((a, b), (a, f, b[:1, :1], s), (a[:0], b), (a,), (), (f, np.zeros((2, 0), a.dtype))):
        same(tg.linalg.block_diag(*[tg.asarray(x) for x in some]), sl.block_diag(*some))
    many = vector(2, kind, 2, 1, 3)
    same(tg.linalg.block_diag(tg.asarray(many), tg.asarray(b)), sl.block_diag(many, b))


def test_predicates() -> None:
    a = rng.standard_normal((7, 7)).astype("float32")
    c = vector(7, "c", 7)
    for x in (a, a + a.T, a - a.T, a @ a.T + 1e-6 * a, c, c + c.T, c + c.conj().T, np.eye(3, dtype="int32")):
        for tolerances in ({}, {"atol": 1e-5}, {"rtol": 1e-4}, {"atol": 1e-9, "rtol": 1e-9}):
            for name in ("issymmetric", "ishermitian"):
                got = getattr(tg.linalg, name)(tg.asarray(x), **tolerances)
                assert bool(got) == getattr(sl, name)(x, **tolerances), (name, tolerances)
    bad = np.array([[np.nan, 1], [1, 2]], "float32")
    for x in (bad, bad[::-1], bad[:, ::-1]):
        for name in ("issymmetric", "ishermitian"):
            assert bool(getattr(tg.linalg, name)(tg.asarray(x))) == getattr(sl, name)(x)
    for shape, low, high in (
        ((5, 5), -1, 2),
        ((4, 7), -3, 0),
        ((7, 3), -6, 2),
        ((3, 3), 0, 0),
        ((0, 3), 0, 0),
    ):
        x = np.triu(np.tril(np.ones(shape, "float32"), high), low)
        assert tuple(int(k) for k in tg.linalg.bandwidth(tg.asarray(x))) == tuple(sl.bandwidth(x))


def spread(a: np.ndarray, p: np.ndarray) -> int:
    return max(sl.bandwidth(a[np.ix_(p, p)].astype("float64")))


def test_reverse_cuthill_mckee() -> None:
    """As narrow as SciPy's; the same order where no degrees are equal, but for what SciPy leaves open."""
    for n, m in ((1, 0), (2, 1), (10, 12), (40, 60), (90, 100), (300, 320)):
        for _ in range(3):
            a = np.zeros((n, n), "float32")
            a[rng.integers(0, n, m), rng.integers(0, n, m)] = 1
            p = np.asarray(tg.linalg.reverse_cuthill_mckee(tg.asarray(a)))
            assert p.dtype == np.int32
            np.testing.assert_array_equal(np.sort(p), np.arange(n))
            whole = a + a.T
            theirs = reverse_cuthill_mckee(csr_array(a))
            assert spread(whole, p) <= 1.6 * spread(whole, theirs) + 3
            again = np.asarray(tg.linalg.reverse_cuthill_mckee(tg.asarray(whole), symmetric_mode=True))
            np.testing.assert_array_equal(again, p)
    band = np.abs(np.subtract.outer(np.arange(60), np.arange(60))) <= 2
    mixed = rng.permutation(60)
    a = band[np.ix_(mixed, mixed)].astype("float32")
    assert spread(a, np.asarray(tg.linalg.reverse_cuthill_mckee(tg.asarray(a)))) <= 4


def test_multi_dot() -> None:
    for sizes in ((3, 4), (3, 4, 5), (10, 2, 30, 4, 7), (1, 50, 1, 50), (5, 5, 5, 5, 5, 5)):
        xs = [rng.standard_normal(s).astype("float32") for s in zip(sizes, sizes[1:], strict=False)]
        if len(xs) < 2:
            continue
        for first in (xs[0], xs[0][0]):
            for last in (xs[-1], xs[-1][:, 0]):
                some = [first, *xs[1:-1], last]
                want = np.linalg.multi_dot([x.astype("float64") for x in some])
                same(tg.linalg.multi_dot([tg.asarray(x) for x in some]), want, rtol=1e-5)
