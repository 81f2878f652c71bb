"""What matrices look like, named matrices, chains of products: against NumPy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import tabgpu as tg

L = tg.linalg
rng = np.random.default_rng(3)


def test_every_name_of_numpy_s_linalg() -> None:
    """Of scipy.linalg: tests/sci/test_linalg_names.py, with the reasons."""
    assert not {n for n in np.linalg.__all__ if not hasattr(L, n)}


def ints(*shape: int) -> np.ndarray:
    return rng.integers(-9, 9, shape).astype("int32")


@pytest.mark.limits
async def test_striped_matrices() -> None:
    for n, m in ((1, 1), (4, 6), (7, 3)):
        c, r = ints(n), ints(m)
        r[0] = c[0]
        i, j = np.ogrid[:n, :m]
        want = np.where(i >= j, c[np.clip(i - j, 0, n - 1)], r[np.clip(j - i, 0, m - 1)])
        got = L.toeplitz(tg.asarray(c), tg.asarray(r))
        np.testing.assert_array_equal(await got.numpy(), want)
        got[0, 0] = 99  # its own memory, not stripes of one vector
        assert (np.asarray(got) == 99).sum() == 1 + (want == 99).sum()
        both = np.concatenate([c, r[1:]])
        np.testing.assert_array_equal(
            np.asarray(L.hankel(tg.asarray(c)[...], tg.asarray(r)[::1])), both[i + j]
        )
        want = c[(np.arange(n)[:, None] - np.arange(n)) % n]
        np.testing.assert_array_equal(np.asarray(L.circulant(tg.asarray(c))), want)
        for mode in ("full", "same", "valid"):
            v = ints(m)
            matrix = np.asarray(L.convolution_matrix(tg.asarray(c), m, mode))
            np.testing.assert_array_equal(matrix @ v, np.convolve(c, v, mode))
    z = (ints(3) + 1j * ints(3)).astype("complex64")
    got = np.asarray(L.toeplitz(tg.asarray(z)))
    np.testing.assert_array_equal(got[0, 1:], np.conj(z[1:]))
    assert np.asarray(L.toeplitz(tg.zeros(0), tg.ones(3))).shape == (0, 3)


async def test_companions_have_their_polynomial_s_roots() -> None:
    roots = np.array([7.0, 5.0, 3.0, 1.0])
    coefficients = np.poly(roots).astype("float32")
    for make in (L.companion, L.fiedler_companion):
        a = np.asarray(make(tg.asarray(coefficients)))
        np.testing.assert_allclose(
            np.sort(np.linalg.eigvals(a.astype("float64")).real), roots[::-1], rtol=1e-5
        )
        found = np.sort(np.asarray(L.eigvals(tg.asarray(a))).real)
        np.testing.assert_allclose(found, roots[::-1], rtol=1e-4)
        with pytest.raises(ValueError, match="first coefficient"):
            await make(tg.asarray([0.0, 1, 2, 3])).numpy()
    with pytest.raises(ValueError, match="at least 2"):
        L.companion([1.0])


def test_matrices_by_size() -> None:
    for n in (1, 2, 8):
        h = np.asarray(L.hadamard(n))
        assert h.dtype == np.int32
        np.testing.assert_array_equal(h @ h.T, n * np.eye(n))
        f = np.asarray(L.dft(n)).astype("complex128")
        np.testing.assert_allclose(f, np.fft.fft(np.eye(n)), atol=3e-7)
        np.testing.assert_allclose(np.asarray(L.dft(n, "n")), f / n, atol=1e-7)
        p = np.asarray(L.pascal(n))
        assert p[-1, -1] == math.comb(2 * n - 2, n - 1) and (p == p.T).all()
        np.testing.assert_array_equal(np.asarray(L.invpascal(n)) @ p, np.eye(n))
        low = np.asarray(L.pascal(n, "lower"))
        np.testing.assert_array_equal(low @ np.asarray(L.pascal(n, "upper")), p)
        np.testing.assert_allclose(np.asarray(L.hilbert(n))[-1, -1], 1 / (2 * n - 1), rtol=1e-7)
        full = np.asarray(L.helmert(n, full=True)).astype("float64")
        np.testing.assert_allclose(full @ full.T, np.eye(n), atol=3e-7)
        np.testing.assert_array_equal(np.asarray(L.helmert(n)), full[1:].astype("float32"))
    exact = np.array([[1 / (i + j + 1) for j in range(5)] for i in range(5)])
    np.testing.assert_allclose(np.asarray(L.invhilbert(5, exact=True)) @ exact, np.eye(5), atol=1e-9)
    for wrong in (0, 3, 12):
        with pytest.raises(ValueError, match="power of two"):
            L.hadamard(wrong)
    with pytest.raises(ValueError, match="int32"):
        L.pascal(40)
    with pytest.raises(ValueError, match="int32"):
        L.invhilbert(12, exact=True)
    with pytest.raises(ValueError, match="scale"):
        L.dft(4, "m")
    with pytest.raises(ValueError, match="kind"):
        L.pascal(4, "left")


def test_matrices_of_vectors_and_blocks() -> None:
    f, s = ints(4), ints(3)
    want = np.diag(s, -1)
    want[0] = f
    np.testing.assert_array_equal(np.asarray(L.leslie(tg.asarray(f), tg.asarray(s))), want)
    np.testing.assert_array_equal(np.asarray(L.fiedler(tg.asarray(f))), np.abs(f[:, None] - f))
    a, b = ints(3, 4), ints(2, 4)
    want = np.stack([np.kron(a[:, k], b[:, k]) for k in range(4)], axis=1)
    np.testing.assert_array_equal(np.asarray(L.khatri_rao(tg.asarray(a), tg.asarray(b).T.T)), want)
    want = np.zeros((6, 9), "int32")
    want[:3, :4], want[3:5, 4:8], want[5, 8] = a, b, 7
    np.testing.assert_array_equal(np.asarray(L.block_diag(tg.asarray(a), tg.asarray(b), 7)), want)
    assert np.asarray(L.block_diag()).shape == (1, 0)
    with pytest.raises(ValueError, match="columns"):
        L.khatri_rao(tg.ones((2, 3)), tg.ones((2, 4)))
    with pytest.raises(ValueError, match=r"leslie.*\(4,\)"):
        L.leslie(tg.ones(4), tg.ones(4))


async def test_symmetric_and_hermitian_matrices() -> None:
    """RM-issymmetric, RM-ishermitian: exact, tolerances, skew, stacks, empty; a bool that is read on request."""
    a = rng.standard_normal((6, 6)).astype("float32")
    c = (a + 1j * a.T).astype("complex64")  # Hermitian times (1 + 1j) / .. : neither
    cases = {
        "symmetric": a + a.T,
        "skew": a - a.T,
        "hermitian": c + c.conj().T,
        "skew hermitian": c - c.conj().T,
        "general": a,
    }
    counters = tg.device().counters
    reads = counters.reads
    got = {}
    for name, x in cases.items():
        t = tg.asarray(x)
        got[name] = [f(t, skew=skew) for f in (L.issymmetric, L.ishermitian) for skew in (False, True)]
    assert counters.reads == reads
    found = {name: [bool(v) for v in await tg.fetch(*some)] for name, some in got.items()}
    assert found == {
        "symmetric": [True, False, True, False],
        "skew": [False, True, False, True],
        "hermitian": [False, False, True, False],
        "skew hermitian": [False, False, False, True],
        "general": [False] * 4,
    }
    near = a + a.T
    near[0, 3] += 1e-3
    for tolerance, want in ((0, False), (1e-4, False), (1e-2, True)):
        assert bool(L.issymmetric(tg.asarray(near), atol=tolerance)) is want
    stack = np.stack([a + a.T, a])
    np.testing.assert_array_equal(np.asarray(L.issymmetric(tg.asarray(stack))), [True, False])
    assert bool(L.issymmetric(tg.zeros((0, 0)))) and bool(L.ishermitian(tg.zeros((0, 0))))
    for function in (L.issymmetric, L.ishermitian):
        for bad in (-1e-3, math.inf, math.nan):
            with pytest.raises(ValueError, match="atol"):
                function(tg.asarray(a), atol=bad)
        with pytest.raises(ValueError, match=r"\(2, 3\)"):
            function(tg.zeros((2, 3)))


async def test_bandwidth() -> None:
    """RM-bandwidth: any shape; 0, 0 of no elements."""
    for shape, low, high in (((5, 5), -1, 2), ((4, 7), -3, 0), ((7, 3), -6, 2), ((3, 3), 0, 0)):
        x = np.triu(np.tril(np.ones(shape, "float32"), high), low)
        lower, upper = L.bandwidth(tg.asarray(x))
        assert lower.dtype == tg.int32 and lower.shape == ()
        assert (int(lower), int(upper)) == (-low, high)
        assert tuple(map(int, L.bandwidth(tg.asarray(x).T))) == (high, -low)
    for shape in ((0, 0), (0, 3), (3, 0)):
        assert [int(k) for k in L.bandwidth(tg.zeros(shape))] == [0, 0]
    assert [int(k) for k in L.bandwidth(tg.zeros((4, 4)))] == [0, 0]
    x = np.zeros((4, 4), "float32")
    x[3, 1] = np.nan
    assert [int(k) for k in L.bandwidth(tg.asarray(x))] == [2, 0]
    stack = tg.asarray(np.stack([np.eye(4), np.ones((4, 4))]).astype("float32"))
    np.testing.assert_array_equal(np.asarray(L.bandwidth(stack)[0]), [0, 3])
    with pytest.raises(ValueError, match=r"\(3,\)"):
        L.bandwidth(tg.ones(3))


def visited(a: np.ndarray) -> list[int]:
    """Cuthill and McKee's order, reversed, in plain Python."""
    n = len(a)
    degree = (a != 0).sum(axis=1) + (np.diag(a) != 0)
    by_degree = sorted(range(n), key=lambda k: degree[k])
    order: list[int] = []
    for start in by_degree:
        if start in order:
            continue
        order.append(start)
        for at in range(len(order) - 1, n):
            if at >= len(order):
                break
            order += [k for k in by_degree if a[order[at], k] and k not in order]
    return order[::-1]


@pytest.mark.limits
@pytest.mark.parametrize("n", [1, 2, 9, 40, pytest.param(300, marks=pytest.mark.slow)])
async def test_reverse_cuthill_mckee(n: int) -> None:
    """RM-sym_rcm: components, lone nodes, diagonals; a band that was shuffled is a band again."""
    for m in (0, n // 2, n, 2 * n):
        a = np.zeros((n, n), "float32")
        a[rng.integers(0, n, m), rng.integers(0, n, m)] = rng.standard_normal(m)
        whole = ((a != 0) | (a.T != 0)).astype("float32")
        got = L.reverse_cuthill_mckee(tg.asarray(a))
        assert got.dtype == tg.int32
        np.testing.assert_array_equal(await got.numpy(), visited(whole))
        again = L.reverse_cuthill_mckee(tg.asarray(whole), symmetric_mode=True)
        np.testing.assert_array_equal(np.asarray(again), visited(whole))
    mixed = rng.permutation(n)
    band = (np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1)[np.ix_(mixed, mixed)]
    p = np.asarray(L.reverse_cuthill_mckee(tg.asarray(band)))
    put = band[np.ix_(p, p)]
    assert [int(k) for k in L.bandwidth(tg.asarray(put))] == [min(n - 1, 1)] * 2


async def test_reverse_cuthill_mckee_refuses() -> None:
    assert (await L.reverse_cuthill_mckee(tg.zeros((0, 0))).numpy()).shape == (0,)
    for shape in ((3,), (2, 3), (2, 3, 3)):
        with pytest.raises(ValueError, match="matri"):
            L.reverse_cuthill_mckee(tg.zeros(shape))


async def test_multi_dot_takes_the_cheapest_order() -> None:
    sizes = (40, 2, 30, 4, 25)
    xs = [rng.standard_normal(s).astype("float32") for s in pairwise(sizes)]
    given = [tg.asarray(x) for x in xs]
    want = np.linalg.multi_dot([x.astype("float64") for x in xs])
    np.testing.assert_allclose(await L.multi_dot(given).numpy(), want, rtol=1e-4, atol=1e-4)
    ends = [given[0][0], *given[1:-1], given[-1][:, 0]]
    assert L.multi_dot(ends).shape == ()
    np.testing.assert_allclose(np.asarray(L.multi_dot(ends)), want[0, 0], rtol=1e-4, atol=1e-4)
    out = tg.zeros((40, 25))
    assert L.multi_dot(given, out=out) is out
    np.testing.assert_allclose(np.asarray(out), want, rtol=1e-4, atol=1e-4)
    from tabgpu.linalg.structure import _cuts

    assert _cuts([10, 30, 5, 60]) == {
        (0, 1): 0,
        (1, 2): 1,
        (0, 2): 1,
    }  # (AB)C: 4,500 multiplications, not 27,000
    with pytest.raises(ValueError, match="two"):
        L.multi_dot(given[:1])
    with pytest.raises(ValueError, match=r"\(40, 2\).*\(30, 4\)"):
        L.multi_dot([given[0], given[2]])
    with pytest.raises(L.LinAlgError, match=r"\(2, 2, 2\)"):
        L.multi_dot([tg.ones((2, 2, 2)), tg.ones((2, 2))])


async def test_products_of_the_checklist() -> None:
    """RM-kron: N-D with ranks that differ; RM-cross: axes named and not, no axis of 3 raises, empty."""
    a, b = ints(2, 3, 2), ints(4, 2)
    np.testing.assert_array_equal(np.asarray(tg.kron(tg.asarray(a), tg.asarray(b))), np.kron(a, b))
    x, y = ints(3, 5), ints(3, 5)
    want = np.cross(x, y, axis=0)
    np.testing.assert_array_equal(np.asarray(tg.cross(tg.asarray(x), tg.asarray(y), axis=0)), want)
    np.testing.assert_array_equal(np.asarray(L.cross(tg.asarray(x).T, tg.asarray(y).T)), np.cross(x.T, y.T))
    got = tg.cross(tg.asarray(x), tg.asarray(y).T, axisa=0, axisb=1, axisc=0)
    np.testing.assert_array_equal(np.asarray(got), want)
    assert np.asarray(L.cross(tg.zeros((0, 3)), tg.zeros((0, 3)))).shape == (0, 3)
    with pytest.raises(ValueError, match="3 components"):
        L.cross(tg.ones((3, 5)), tg.ones((3, 5)))
    m = ints(4, 6)
    for offset in (-2, 0, 3):
        got = tg.trace(tg.asarray(m), offset=offset, dtype=tg.float32)
        assert got.dtype == tg.float32 and float(got) == np.trace(m, offset)
