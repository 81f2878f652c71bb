"""tg.linalg.eig, eigvals, schur, hessenberg against NumPy in float64; errors are backward errors in units of n eps |A|.

Bank L11 (no eig without it), L05 (empties).
"""

from __future__ import annotations

import numpy as np
import pytest
from forms import taking

import tabgpu as tg

EPS = 2.0**-23
BOUND = 20  # n eps |A|, the promise; the largest seen is 0.6
rng = np.random.default_rng(6)


def matrix(*shape: int, dtype: str = "float32") -> np.ndarray:
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype == "complex64" else x).astype(dtype)


def turned(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def backward(a: np.ndarray, w: np.ndarray, v: np.ndarray) -> float:
    """The greatest |A v - w v| of vectors of norm 1, in n eps |A|."""
    a, w, v = a.astype("complex128"), w.astype("complex128"), v.astype("complex128")
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, atol=1e-6)
    off = np.linalg.norm(a @ v - v * w[..., None, :], axis=-2).max(axis=-1)
    size = np.linalg.norm(a, axis=(-2, -1)) + (np.abs(a).max() == 0)
    return float((off / size).max()) / (a.shape[-1] * EPS)


def apart(got: np.ndarray, want: np.ndarray) -> float:
    """The greatest distance of two sets of numbers, paired greedily."""
    left, worst = list(want), 0.0
    for x in sorted(got, key=abs):
        k = int(np.argmin(np.abs(np.array(left) - x)))
        worst = max(worst, abs(left.pop(k) - x))
    return worst


async def check(a: np.ndarray, values: float = 1e-4) -> None:
    """eig with left and right vectors; eigvals within `values` |A| of NumPy's."""
    x = tg.asarray(a)
    w, left, right = tg.linalg.eig(x, left=True)
    only = tg.linalg.eigvals(x)
    assert (w.dtype, left.dtype, right.dtype, only.dtype) == (tg.complex64,) * 4
    assert (w.shape, right.shape) == (a.shape[:-1], a.shape)
    w, left, right, only = await tg.fetch(w, left, right, only)
    assert backward(a, w, right) < BOUND
    assert backward(turned(a), np.conj(w), left) < BOUND
    n = a.shape[-1]
    want = np.linalg.eigvals(a.astype("complex128"))
    for some in (w, only):
        for one, other, m in zip(some.reshape(-1, n), want.reshape(-1, n), a.reshape(-1, n, n), strict=True):
            assert apart(one, other) <= values * max(float(np.linalg.norm(m.astype("complex128"))), 1e-38)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 16, 33])
async def test_eig_of_general_matrices(n: int, dtype: str) -> None:
    """RM-eig: values, right and left vectors; complex spectra of real matrices."""
    await check(matrix(n, n, dtype=dtype))


@pytest.mark.limits
async def test_eig_of_stacks_and_views() -> None:
    whole = matrix(3, 2, 9, 14)
    x = tg.asarray(whole)
    for view, host in (
        (x[..., :9], whole[..., :9]),
        (x[::-1, :, ::-1, 1:10], whole[::-1, :, ::-1, 1:10]),
        (tg.matrix_transpose(x[..., :9]), np.swapaxes(whole[..., :9], -1, -2)),
        (tg.broadcast_to(x[0, 0, :, :9], (2, 9, 9)), np.broadcast_to(whole[0, 0, :, :9], (2, 9, 9))),
    ):
        w, v = await tg.fetch(*tg.linalg.eig(view))
        assert w.shape == host.shape[:-1]
        assert backward(host, w, v) < BOUND


SPECIAL = {
    "zero": np.zeros((7, 7)),
    "identity": np.eye(6),
    "ones": np.ones((25, 25)),
    "jordan": np.eye(9, k=1),
    "jordan of 2": np.eye(9, k=1) + 2 * np.eye(9),
    "cyclic": np.roll(np.eye(10), 1, axis=0),
    "triangle": np.triu(matrix(12, 12)),
    "low triangle": np.tril(matrix(12, 12)),
    "rotation": np.array([[0.0, 1], [-1, 0]]),
    "block": np.array([[1.0, 2, 0], [-2, 1, 0], [0, 0, 3]]),
    "nearly defective": np.array([[1.0, 1], [1e-7, 1]]),
    "large": matrix(8, 8) * 1e30,
    "tiny": matrix(8, 8) * 1e-30,
    "orthogonal": np.linalg.qr(matrix(15, 15))[0],
    "companion": np.diag(np.ones(7), -1) + np.pad(-np.arange(1.0, 9)[:, None], ((0, 0), (7, 0))),
    "numbers": np.arange(36.0).reshape(6, 6),
}


@pytest.mark.parametrize("name", SPECIAL)
async def test_eig_of_special_matrices(name: str) -> None:
    await check(SPECIAL[name].astype("float32"), 0.03 if name in ("jordan of 2", "companion") else 1e-3)


async def test_eig_of_badly_scaled_matrices() -> None:
    """Balancing: a similarity by powers of two leaves the eigenvalues as they were."""
    a = matrix(20, 20)
    d = 2.0 ** rng.integers(-20, 20, 20)
    want = np.linalg.eigvals(a.astype("float64"))
    got = np.asarray(tg.linalg.eigvals(tg.asarray((d[:, None] * a / d).astype("float32"))))
    assert apart(got, want) < 1e-4 * np.linalg.norm(a)


async def test_eigenvalues_of_real_matrices_are_exact_pairs() -> None:
    """Conjugates and real numbers to the last bit; so are their vectors."""
    a = matrix(4, 24, 24)
    w, v = (x.copy() for x in await tg.fetch(*tg.linalg.eig(tg.asarray(a))))
    for values, vectors in zip(w, v, strict=True):
        k = 0
        while k < 24:
            if values[k].imag == 0:
                assert not vectors[:, k].imag.any()
                k += 1
                continue
            assert values[k].imag > 0 and values[k + 1] == np.conj(values[k])
            np.testing.assert_array_equal(vectors[:, k + 1], np.conj(vectors[:, k]))
            k += 2
        most = np.abs(vectors).argmax(axis=0)
        assert np.abs(vectors[most, np.arange(24)].imag).max() < 1e-6
    symmetric = a[0] + a[0].T
    w = np.asarray(tg.linalg.eigvals(tg.asarray(symmetric)))
    np.testing.assert_allclose(np.sort(w.real), np.linalg.eigvalsh(symmetric.astype("float64")), atol=1e-4)


async def test_eig_takes_other_dtypes_and_empties() -> None:
    """L05's kind: no matrices, matrices without rows."""
    ints = np.array([[2, 1], [1, 3]])
    for dtype in ("int32", "uint8", "float16", "bool"):
        x = ints.astype(dtype)
        w, v = tg.linalg.eig(tg.asarray(x))
        assert w.dtype == v.dtype == tg.complex64
        assert backward(x.astype("float64"), np.asarray(w), np.asarray(v)) < BOUND
    for shape in ((0, 0), (2, 0, 0), (0, 3, 3)):
        w, left, right = tg.linalg.eig(tg.zeros(shape), left=True)
        assert np.asarray(w).shape == shape[:-1]
        assert np.asarray(left).shape == np.asarray(right).shape == shape
        assert np.asarray(tg.linalg.eigvals(tg.zeros(shape))).shape == shape[:-1]


async def test_eig_forms_of_scipy() -> None:
    x = tg.asarray(matrix(4, 4))
    named = tg.linalg.eig(x)
    assert named.eigenvalues is named[0] and named.eigenvectors is named[1]
    assert len(tg.linalg.eig(x, left=True, right=False)) == 2
    alone = tg.linalg.eig(x, right=False)
    np.testing.assert_array_equal(np.asarray(alone), np.asarray(tg.linalg.eigvals(x)))
    with pytest.raises(NotImplementedError, match="generalised"):
        tg.linalg.eig(x, x)


async def test_what_eig_refuses() -> None:
    for shape in ((3,), (2, 3), (4, 3, 2)):
        for function in (tg.linalg.eig, tg.linalg.eigvals, tg.linalg.schur, tg.linalg.hessenberg):
            with pytest.raises(tg.linalg.LinAlgError, match="square"):
                function(tg.zeros(shape))
    bad = matrix(5, 5)
    for value in (np.nan, np.inf, -np.inf):
        bad[3, 1] = value
        w, v = tg.linalg.eig(tg.asarray(bad))
        for x in (w, v, tg.linalg.eigvals(tg.asarray(bad))):
            with pytest.raises(tg.linalg.LinAlgError, match="NaN"):
                await x.numpy()


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
async def test_schur_and_hessenberg(dtype: str) -> None:
    for shape in ((1, 1), (2, 2), (2, 21, 21)):
        a = matrix(*shape, dtype=dtype)
        n = shape[-1]
        t, z = await tg.fetch(*tg.linalg.schur(tg.asarray(a)))
        h, q = await tg.fetch(*tg.linalg.hessenberg(tg.asarray(a), calc_q=True))
        assert h.dtype == q.dtype == dtype and t.dtype == z.dtype == "complex64"
        assert not np.tril(t, -1).any() and not np.tril(h, -2).any()
        for middle, unitary in ((t, z), (h, q)):
            middle, unitary = middle.astype("complex128"), unitary.astype("complex128")
            size = np.linalg.norm(a.astype("complex128"), axis=(-2, -1)).max()
            assert np.abs(unitary @ middle @ turned(unitary) - a).max() < BOUND * n * EPS * size
            assert np.abs(turned(unitary) @ unitary - np.eye(n)).max() < BOUND * n * EPS
        np.testing.assert_array_equal(np.asarray(tg.linalg.hessenberg(tg.asarray(a))), h)
    with pytest.raises(NotImplementedError, match="real"):
        tg.linalg.schur(tg.asarray(a), output="real")
    with pytest.raises(ValueError, match="odd"):
        tg.linalg.schur(tg.asarray(a), output="odd")


@pytest.mark.parametrize("form", ["serial", "portable"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
async def test_eig_in_the_forms_of_other_adapters(dtype: str, form: str) -> None:
    with taking(form):
        await check(matrix(2, 20, 20, dtype=dtype))


@pytest.mark.parametrize("n", [70, pytest.param(130, marks=pytest.mark.slow)])
async def test_eig_of_larger_matrices(n: int) -> None:
    await check(matrix(n, n))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
async def test_eig_of_matrices_reduced_by_many_workgroups(dtype: str) -> None:
    with taking("portable"):
        await check(matrix(100, 100, dtype=dtype))


async def test_eig_compiles_nothing_for_another_shape() -> None:
    """Texts depend on the kinds of elements and on classes of sizes only."""
    counters = tg.device().counters

    async def sweep(*sizes: int) -> None:
        for n in sizes:
            for lead in ((), (2,)):
                await tg.fetch(*tg.linalg.eig(tg.asarray(matrix(*lead, n, n))))

    await sweep(12, 13, 18, 21)
    before = counters.pipelines
    await sweep(14, 15, 16, 20, 25, 28, 31)
    assert counters.pipelines == before


async def test_eig_reads_nothing_on_the_way() -> None:
    x = tg.asarray(matrix(10, 10))
    await x.numpy()
    counters = tg.device().counters
    before = counters.reads
    w, left, v = tg.linalg.eig(x, left=True)
    assert counters.reads == before
    await tg.fetch(w, left, v)
    assert counters.reads <= before + 3
