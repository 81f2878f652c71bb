"""The runmat checklist's rows of random numbers, linear algebra, signals, images, statistics, fused entry points and
the device, each with its own parameters. Wider tests of these are in the files of their chapters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checked import A, check, wide

import tabgpu as tg
from tabgpu import fft, image, linalg, random, signal, stats
from tabgpu.errors import LinAlgError

rng = np.random.default_rng(428)
EPS = 2.0**-24


def draw(*shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def definite(n: int) -> np.ndarray:
    x = draw(n, n)
    return (x @ x.T + n * np.eye(n, dtype=np.float32)).astype(np.float32)


def ill(m: int, n: int) -> np.ndarray:
    """Of condition 1e4."""
    u, _, v = np.linalg.svd(draw(m, n), full_matrices=False)
    return ((u * np.logspace(0, -4, min(m, n))) @ v).astype(np.float32)


SIZES = ((1, 1), (3, 3), (7, 4), (33, 33), (40, 17))
SQUARE = [draw(n, n) for n in (1, 2, 5, 33)] + [draw(2, 3, 3), draw(6, 6).T, draw(9, 9)[::-1, ::-1]]


async def backward(parts: Any, a: Any, factor: float = 20) -> None:
    """|product of the parts - a| <= 20 n eps |a|, in the Frobenius norm."""
    product = wide(parts[0])
    for p in parts[1:]:
        product = product @ wide(p)
    size = max(a.shape[-2:], default=1)
    rest, scale = np.linalg.norm(product - wide(a), axis=(-2, -1)), np.linalg.norm(wide(a), axis=(-2, -1))
    assert (rest <= factor * size * EPS * scale + 1e-30).all(), (rest, scale)


# --- linear algebra ---
def products(f: Any) -> list[Any]:
    shapes = (((3, 5), (5, 4)), ((1, 1), (1, 1)), ((2, 0), (0, 3)), ((33, 65), (65, 17)), ((0, 3), (3, 2)))
    return [(f(a, b), wide(a) @ wide(b), 1e-5) for a, b in ((draw(*s), draw(*t)) for s, t in shapes)]


def solved(a: Any, b: Any) -> Any:
    return np.linalg.solve(wide(a), wide(b))


MATRICES = [draw(5, 5) + 5 * np.eye(5, dtype=np.float32), draw(2, 4, 4) + 4 * np.eye(4, dtype=np.float32)]
TALL = draw(9, 4)
X, Y = draw(4, 3), draw(4, 3)

ALGEBRA: dict[str, Any] = {
    "RM-matmul": lambda: (
        products(lambda a, b: tg.asarray(a) @ tg.asarray(b))
        + products(lambda a, b: tg.asarray(np.array(a.T)).T @ tg.asarray(np.array(b.T)).T)
        + [(tg.ones((2, 20_000)) @ tg.ones((20_000, 2)), np.full((2, 2), 20_000.0))]
    ),
    "RM-matmul_epilogue": lambda: [
        (
            linalg.blas.matmul_epilogue(
                X,
                Y.T,
                2.0,
                0.5,
                row_scale=X[:, 0],
                column_scale=Y[:, 1] + 3,
                column_op="divide",
                clamp=(-1, 2),
                power=2,
            ),
            np.clip((2.0 * wide(X) @ wide(Y).T + 0.5) * wide(X)[:, :1] / (wide(Y)[:, 1] + 3), -1, 2) ** 2,
            1e-5,
        )
    ],
    "RM-matmul_power_step": lambda: [
        (
            linalg.power_step(a, b, e),
            (p := wide(a) @ wide(b)) / np.sqrt((p**2).sum(-2, keepdims=True) + e),
            1e-5,
        )
        for a, b, e in ((draw(6, 6), draw(6, 2), 0.0), (draw(3, 3), draw(3, 1), 1e-3))
    ],
    "RM-syrk": lambda: [
        (tg.asarray(a).T @ tg.asarray(a), wide(a).T @ wide(a), 1e-5)
        for a in (draw(7, 3), draw(1, 1), draw(50, 20))
    ],
    "RM-pagefun": lambda: [
        (tg.matmul(a, b), wide(a) @ wide(b), 1e-5)
        for a, b in (
            (draw(3, 4, 5), draw(3, 5, 2)),
            (draw(2, 1, 4, 3), draw(5, 3, 4)),
            (draw(0, 2, 2), draw(0, 2, 2)),
        )
    ],
    "RM-transpose": lambda: [
        (tg.asarray(A).T, A.T),
        (tg.asarray(A).T.T, A),
        (tg.asarray(A).T.sum(axis=0), A.T.sum(0), 1e-5),
        (tg.asarray(A).T[1:3], A.T[1:3]),
    ],
    "RM-dot": lambda: (
        [(tg.vecdot(X, Y, axis=a), (wide(X) * wide(Y)).sum(a), 1e-5) for a in (0, 1)]
        + [(tg.dot(X[:, 0], Y[:, 0]), wide(X)[:, 0] @ wide(Y)[:, 0], 1e-5)]
    ),
    "RM-cross": lambda: [
        (linalg.cross(X, Y), np.cross(wide(X), wide(Y)), 1e-5),
        (linalg.cross(X.T, Y.T, axis=0), np.cross(wide(X.T), wide(Y.T), axis=0), 1e-5),
        (linalg.cross(X[:0], Y[:0]), np.zeros((0, 3))),
    ],
    "RM-kron": lambda: [
        (tg.kron(a, b), np.kron(wide(a), wide(b)), 1e-6) for a, b in ((X, Y[:2]), (X[0], Y), (X[:0], Y))
    ],
    "RM-linsolve": lambda: (
        [
            (linalg.solve(a, b), solved(a, b), 1e-4)
            for a in MATRICES
            for b in (draw(*a.shape[:-2], a.shape[-1], 2),)
        ]
        + [
            (
                linalg.solve_triangular(np.triu(MATRICES[0]), X[:1].repeat(5, 0)),
                solved(np.triu(MATRICES[0]), X[:1].repeat(5, 0)),
                1e-4,
            )
        ]
        + [
            (
                linalg.solve_triangular(np.tril(MATRICES[0]), draw(5) * 0 + 1, lower=True, trans=1),
                solved(np.tril(MATRICES[0]).T, np.ones(5)),
                1e-4,
            )
        ]
    ),
    "RM-mldivide": lambda: [
        (linalg.solve(MATRICES[0], draw(5) * 0 + 1), solved(MATRICES[0], np.ones(5)), 1e-4),
        (
            linalg.lstsq(TALL, TALL[:, 0] + 1)[0],
            np.linalg.lstsq(wide(TALL), wide(TALL[:, 0] + 1), rcond=None)[0],
            1e-4,
        ),
    ],
    "RM-mrdivide": lambda: [
        (
            linalg.solve(MATRICES[0].T, np.ones((5, 2), np.float32)).T,
            solved(MATRICES[0].T, np.ones((5, 2))).T,
            1e-4,
        )
    ],
    "RM-inv": lambda: [
        (linalg.inv(a), np.linalg.inv(wide(a)), 1e-4)
        for a in [*MATRICES, np.float32([[4]]), np.zeros((0, 0), np.float32)]
    ],
    "RM-pinv": lambda: (
        [(linalg.pinv(a), np.linalg.pinv(wide(a)), 1e-4) for a in (TALL, TALL.T, draw(3, 3))]
        + [(linalg.pinv(np.float32([[1, 0], [0, 1e-4]]), rtol=1e-2), [[1, 0], [0, 0]])]
    ),
    "RM-cond": lambda: [
        (linalg.cond(MATRICES[0], p), np.linalg.cond(wide(MATRICES[0]), p), 1e-4)
        for p in (None, 1, -1, 2, np.inf, "fro")
    ],
    "RM-norm": lambda: (
        [
            (linalg.norm(X, o), np.linalg.norm(wide(X), o), 1e-5)
            for o in (None, "fro", 1, -1, np.inf, 2, "nuc")
        ]
        + [
            (linalg.norm(X[:, 0], o), np.linalg.norm(wide(X[:, 0]), o), 1e-5)
            for o in (None, 0, 1, 3, np.inf, -np.inf)
        ]
    ),
    "RM-rank": lambda: (
        [
            (linalg.matrix_rank(a), w)
            for a, w in (
                (TALL, 4),
                (np.outer(X[:, 0], X[:, 1]).astype(np.float32), 1),
                (np.zeros((3, 3), np.float32), 0),
            )
        ]
        + [(linalg.matrix_rank(np.diag(np.float32([1, 1e-3])), tol=0.1), 1)]
    ),
    "RM-rcond": lambda: [
        (linalg.rcond(MATRICES[0]), 1 / np.linalg.cond(wide(MATRICES[0]), 1), 1e-4),
        (linalg.rcond(np.zeros((2, 2), np.float32)), 0.0),
    ],
    "RM-issymmetric": lambda: (
        [
            (linalg.issymmetric(a, atol=t), w)
            for a, t, w in (
                (definite(4), None, True),
                (draw(4, 4), None, False),
                (np.float32([[1, 2], [2.01, 1]]), 0.1, True),
                (np.zeros((0, 0), np.float32), None, True),
            )
        ]
        + [(linalg.issymmetric(np.float32([[0, 1], [-1, 0]]), skew=True), True)]
    ),
    "RM-ishermitian": lambda: [
        (linalg.ishermitian(np.complex64([[1, 1j], [-1j, 2]])), True),
        (linalg.ishermitian(np.complex64([[1, 1j], [1j, 2]])), False),
        (linalg.ishermitian(np.complex64([[1j, 1], [-1, 0]]), skew=True), True),
    ],
    "RM-bandwidth": lambda: [
        (linalg.bandwidth(a), w)
        for a, w in (
            (np.tril(np.ones((4, 4), np.float32), 1), (3, 1)),
            (np.zeros((0, 0), np.float32), (0, 0)),
            (np.eye(3, 5, k=2, dtype=np.float32), (0, 2)),
        )
    ],
}


@pytest.mark.parametrize("row", ALGEBRA)
async def test_algebra(row: str) -> None:
    await check(ALGEBRA[row](), row)


async def test_lu() -> None:
    """RM-lu: permutation, lower, upper; packed with pivots; backward error, singular matrices too."""
    for a in [
        *SQUARE,
        *(draw(*s) for s in SIZES),
        ill(20, 20),
        np.zeros((3, 3), np.float32),
        np.zeros((0, 0), np.float32),
    ]:
        parts = await tg.fetch(*linalg.lu(a))
        await backward(parts, a)
        assert (np.abs(parts[1]) <= 1 + 1e-6).all()
    packed, pivots = await tg.fetch(*linalg.lu_factor(SQUARE[3]))
    x = await linalg.lu_solve((tg.asarray(packed), tg.asarray(pivots)), np.ones(33, np.float32)).numpy()
    assert np.linalg.norm(wide(SQUARE[3]) @ x - 1) <= 1e-3


async def test_chol() -> None:
    """RM-chol: both triangles, batched; not positive definite raises at the await, or gives info."""
    for n in (0, 1, 2, 31, 32, 33, 100):
        a = definite(n)
        low, up = await tg.fetch(linalg.cholesky(a), linalg.cholesky(a, upper=True))
        await backward([low, low.T], a)
        await backward([up.T, up], a)
    bad = np.float32([[1, 2], [2, 1]])
    with pytest.raises(LinAlgError):
        await linalg.cholesky(bad).numpy()
    assert int(await linalg.cholesky_ex(bad)[1].numpy()) == 2


async def test_qr() -> None:
    """RM-qr: reduced and complete, pivoted, orthonormal to 20 n eps, also of condition 1e4 (CholeskyQR would be
    1e8)."""
    for a in [*(draw(*s) for s in (*SIZES, (4, 9))), ill(60, 20), np.zeros((5, 2), np.float32)]:
        for mode in ("reduced", "complete"):
            q, r = await tg.fetch(*linalg.qr(a, mode))
            await backward([q, r], a)
            gap = np.abs(wide(q).T @ wide(q) - np.eye(q.shape[1])).max(initial=0)
            assert gap <= 20 * max(a.shape) * EPS
        q, r, p = await tg.fetch(*linalg.qr(a, pivoting=True))
        await backward([q, r], a[:, p])
        assert (np.diff(np.abs(np.diag(r))) <= 1e-4 * np.abs(r).max(initial=1)).all()


async def test_qr_power_iter() -> None:
    """RM-qr_power_iter: subspace iteration without a read; the space of the greatest eigenvalues."""
    a, start = np.diag(np.float32([5, 4, 1, 0.5, 0.1])), draw(5, 2)
    q, _ = await tg.fetch(*linalg.qr_power_step(a, start)[:2])
    np.testing.assert_allclose(q.T @ q, np.eye(2), atol=1e-6)
    found = await linalg.subspace_iteration(a, start, 40)[0].numpy()
    np.testing.assert_allclose(found @ found.T, np.diag([1, 1, 0, 0, 0]), atol=1e-4)


async def test_eig() -> None:
    """RM-eig: complex spectra, right and left vectors, as residuals."""
    for a in (
        np.float32([[0, 1], [-1, 0]]),
        draw(8, 8),
        np.diag(np.float32([1, 2, 3])),
        np.float32([[2]]),
        draw(2, 5, 5),
    ):
        w, v = await tg.fetch(*linalg.eig(a)[:2])
        rest = wide(a) @ v - v * w[..., None, :]
        assert np.abs(rest).max() <= 20 * a.shape[-1] * 2 * EPS * np.linalg.norm(wide(a), axis=(-2, -1)).max()
        want = np.linalg.eigvals(wide(a))
        np.testing.assert_allclose(np.sort(np.abs(w), -1), np.sort(np.abs(want), -1), rtol=1e-4, atol=1e-5)


async def test_sym_rcm() -> None:
    """RM-sym_rcm: a permutation that narrows the band of a path whose vertices were shuffled."""
    order = rng.permutation(30)
    path = np.zeros((30, 30), np.float32)
    for u, v in zip(order, order[1:], strict=False):
        path[u, v] = path[v, u] = 1
    p = await linalg.reverse_cuthill_mckee(path).numpy()
    assert sorted(p.tolist()) == list(range(30))
    i, j = np.nonzero(path[p][:, p])
    assert np.abs(i - j).max() == 1


# --- random numbers ---
async def test_uniforms_and_normals() -> None:
    """RM-random_uniform, RM-random_normal, RM-set_rng_state: moments, bounds, the seed decides, empties."""
    g, h = random.default_rng(5), random.default_rng(5)
    u, again, n = await tg.fetch(g.random((200, 500)), h.random((200, 500)), g.standard_normal(100_000))
    np.testing.assert_array_equal(u, again)
    assert (u >= 0).all() and (u < 1).all()
    assert abs(u.mean() - 0.5) < 5e-3 and abs(u.var() - 1 / 12) < 2e-3
    assert abs(n.mean()) < 0.02 and abs(n.var() - 1) < 0.03
    assert random.default_rng(1).random(0).shape == (0,)
    state = h.bit_generator.state
    first = await h.random(5).numpy()
    h.bit_generator.state = state
    np.testing.assert_array_equal(await h.random(5).numpy(), first)


async def test_integers_and_permutations() -> None:
    """RM-random_integer_range, RM-random_permutation, RM-random_permutation_like: inclusive ends, every value, k of
    n."""
    g = random.default_rng(6)
    x = await g.integers(-3, 3, 7000, endpoint=True).numpy()
    assert sorted(set(x.tolist())) == list(range(-3, 4)) and np.bincount(x + 3).min() > 850
    full = await g.integers(-(2**31), 2**31 - 1, 1000, endpoint=True).numpy()
    assert full.min() < -(2**30) and full.max() > 2**30
    with pytest.raises(ValueError, match="low"):
        g.integers(3, 2)
    p = await g.permutation(1000).numpy()
    assert sorted(p.tolist()) == list(range(1000)) and (p != np.arange(1000)).any()
    assert len(set((await g.permutation(50)[:7].numpy()).tolist())) == 7
    like = await g.permutation(tg.asarray(A)).numpy()
    assert sorted(map(tuple, like.tolist())) == sorted(map(tuple, A.tolist()))


async def test_stochastic_evolution() -> None:
    """RM-stochastic_evolution: geometric Brownian motion in one launch; its logarithm's mean and variance."""
    steps, drift, scale = 50, 0.01, 0.05
    x = await random.geometric_brownian(
        random.key(3), np.full(20_000, 2.0, np.float32), drift, scale, steps
    ).numpy()
    logs = np.log(x.astype(float) / 2)
    assert abs(logs.mean() - steps * drift) < 0.01 and abs(logs.std() / (scale * np.sqrt(steps)) - 1) < 0.03
    still = await random.geometric_brownian(random.key(3), np.float32([7]), drift, scale, 0).numpy()
    assert still.tolist() == [7]


# --- signals, windows, images ---
def filtered(b: Any, a: Any, x: Any) -> np.ndarray:
    """The recursion along the last axis, in float64."""
    y = np.zeros(x.shape)
    for n in range(x.shape[-1]):
        for k, c in enumerate(b):
            if n >= k:
                y[..., n] += c * x[..., n - k]
        for k, c in enumerate(a[1:], 1):
            if n >= k:
                y[..., n] -= c * y[..., n - k]
        y[..., n] /= a[0]
    return y


K, S = draw(5), draw(40)
PICTURE = draw(9, 11)
SIGNALS: dict[str, Any] = {
    "RM-conv1d": lambda: (
        [
            (signal.convolve(S, K, m), np.convolve(wide(S), wide(K), m), 1e-5)
            for m in ("full", "same", "valid")
        ]
        + [(tg.convolve(S[:3], K), np.convolve(wide(S[:3]), wide(K)), 1e-5)]
    ),
    "RM-conv2d": lambda: [
        (
            signal.convolve2d(PICTURE, X[:3], "full"),
            sum(
                np.pad(wide(PICTURE), ((i, 2 - i), (j, 2 - j))) * float(X[i, j])
                for i in range(3)
                for j in range(3)
            ),
            1e-5,
        )
    ],
    "RM-iir_filter": lambda: (
        [
            (signal.lfilter(b, a, x), filtered(b, a, wide(x)), 1e-4)
            for b, a in (([1.0, 0.5], [2.0, -0.6, 0.2]), ([0.3], [1.0, -0.9]), ([1.0, 2, 3], [1.0]))
            for x in (S, draw(3, 50))
        ]
        + [
            (
                signal.lfilter([1.0], [1.0, -0.5], PICTURE, axis=0),
                filtered([1.0], [1.0, -0.5], wide(PICTURE).T).T,
                1e-5,
            )
        ]
    ),
    "RM-fft_dim": lambda: [
        (fft.fft(PICTURE, n, axis=a), np.fft.fft(wide(PICTURE), n, axis=a), 2e-6)
        for n in (None, 7, 16, 13)
        for a in (0, 1)
    ],
    "RM-ifft_dim": lambda: [
        (fft.ifft(PICTURE, n, axis=a), np.fft.ifft(wide(PICTURE), n, axis=a), 2e-6)
        for n in (None, 8, 15)
        for a in (0, 1)
    ],
    "RM-fft_extract_real": lambda: [(tg.real(fft.ifft(fft.fft(S))), wide(S), 2e-6)],
    "RM-hann_window": lambda: [
        (signal.windows.hann(n, sym), hann(n, sym, (0.5, 0.5)), 2e-6)
        for n in (0, 1, 2, 9, 64)
        for sym in (True, False)
    ],
    "RM-hamming_window": lambda: [
        (signal.windows.hamming(n, sym), hann(n, sym, (0.54, 0.46)), 2e-6)
        for n in (0, 1, 2, 9, 64)
        for sym in (True, False)
    ],
    "RM-blackman_window": lambda: [
        (1 + signal.windows.blackman(n, sym), 1 + hann(n, sym, (0.42, 0.5, 0.08)), 2e-6)
        for n in (1, 2, 9, 64)
        for sym in (True, False)
    ],
    "RM-fspecial": lambda: [
        (image.fspecial("average", (2, 3)), np.full((2, 3), 1 / 6), 2e-6),
        (image.fspecial("sobel"), [[1, 2, 1], [0, 0, 0], [-1, -2, -1]]),
        (image.fspecial("prewitt"), [[1, 1, 1], [0, 0, 0], [-1, -1, -1]]),
        (
            image.fspecial("laplacian", 0.2),
            np.array([[0.2, 0.8, 0.2], [0.8, -4, 0.8], [0.2, 0.8, 0.2]]) / 1.2,
            2e-6,
        ),
        (
            image.fspecial("unsharp", 0.2),
            np.array([[-0.2, -0.8, -0.2], [-0.8, 5.2, -0.8], [-0.2, -0.8, -0.2]]) / 1.2,
            2e-6,
        ),
        (
            image.fspecial("gaussian", 5, 0.8),
            (e := np.exp(-np.add.outer(np.arange(-2, 3) ** 2, np.arange(-2, 3) ** 2) / 1.28)) / e.sum(),
            2e-6,
        ),
        (image.fspecial("disk", 3).sum(), 1.0, 2e-6),
        (image.fspecial("motion", 9, 45).sum(), 1.0, 2e-6),
        (1 + image.fspecial("log", 5, 0.7).sum(), 1.0, 1e-5),
    ],
    "RM-imfilter": lambda: [
        (f(PICTURE, X[:3], mode=ours, cval=0.5), windows(np.pad(wide(PICTURE), 1, mode=theirs, **o), k), 1e-5)
        for ours, theirs, o in (
            ("constant", "constant", {"constant_values": 0.5}),
            ("nearest", "edge", {}),
            ("reflect", "symmetric", {}),
            ("wrap", "wrap", {}),
        )
        for f, k in ((image.correlate, X[:3]), (image.convolve, X[2::-1, ::-1]))
    ],
    "RM-image_normalize": lambda: (
        [
            (
                image.image_normalize(p, eps=1e-3, gain=2.0, bias=0.5),
                (wide(p) - wide(p).mean((-2, -1), keepdims=True))
                / np.sqrt(wide(p).var((-2, -1), keepdims=True) + 1e-3)
                * 2
                + 0.5,
                1e-5,
            )
            for p in (draw(3, 5, 7), draw(1, 1, 1), draw(2, 64, 65))
        ]
        + [(image.image_normalize(np.ones((1, 4, 4), np.float32)), np.zeros((1, 4, 4)))]
    ),
}


def hann(n: int, sym: bool, c: tuple[float, ...]) -> np.ndarray:
    if n <= 1:
        return np.ones(n)
    t = 2 * np.pi * np.arange(n) / (n - 1 if sym else n)
    return sum((-1) ** k * v * np.cos(k * t) for k, v in enumerate(c))


def windows(padded: Any, kernel: Any) -> np.ndarray:
    h, w = padded.shape[0] - 2, padded.shape[1] - 2
    return sum(padded[i : i + h, j : j + w] * float(kernel[i, j]) for i in range(3) for j in range(3))


@pytest.mark.parametrize("row", SIGNALS)
async def test_signals_and_images(row: str) -> None:
    await check(SIGNALS[row](), row)


# --- statistics ---
OBSERVED = (draw(30, 4) + np.float32([0, 100, 1e4, -5])).astype(np.float32)
STATISTICS: dict[str, Any] = {
    "RM-covariance": lambda: (
        [
            (tg.cov(x, rowvar=r, bias=b), np.cov(wide(x), rowvar=r, bias=b), 3e-4)
            for x in (OBSERVED, OBSERVED[:, :1], OBSERVED.T[:, ::2])
            for r in (False, True)
            for b in (False, True)
        ]
        + [
            (
                tg.cov(OBSERVED, OBSERVED[:, :2] * 2, rowvar=False),
                np.cov(wide(OBSERVED), wide(OBSERVED[:, :2] * 2), rowvar=False),
                3e-4,
            ),
            (
                tg.cov(OBSERVED, rowvar=False, fweights=np.arange(30), aweights=np.arange(1, 31), ddof=0),
                np.cov(
                    wide(OBSERVED), rowvar=False, fweights=np.arange(30), aweights=np.arange(1, 31), ddof=0
                ),
                3e-4,
            ),
            (tg.cov(OBSERVED[:1], rowvar=False), np.full((4, 4), np.nan)),
        ]
    ),
    "RM-corrcoef": lambda: [
        (tg.corrcoef(OBSERVED, rowvar=False), np.corrcoef(wide(OBSERVED), rowvar=False), 3e-4),
        (tg.corrcoef(np.float32([[1, 1, 1], [1, 2, 3]])), [[np.nan, np.nan], [np.nan, 1]]),
    ],
    "RM-reduce_moments_nd": lambda: (
        [(stats.moments(OBSERVED, a).mean, wide(OBSERVED).mean(a), 1e-6) for a in (0, 1, None, (0, 1))]
        + [
            (stats.moments(OBSERVED, a).mean_square, (wide(OBSERVED) ** 2).mean(a), 1e-6)
            for a in (0, 1, None)
        ]
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", STATISTICS)
async def test_statistics(row: str) -> None:
    await check(STATISTICS[row](), row)


async def test_t4_views_of_the_means_keep_their_shapes() -> None:
    """T4: covariance made a column and a row of the means by reshaping one handle in place."""
    x = tg.asarray(OBSERVED)
    mean = x.mean(axis=0)
    column, row = mean.reshape(4, 1), mean.reshape(1, 4)
    product, back = await tg.fetch(column @ row, mean)
    assert mean.shape == (4,) and back.shape == (4,)
    np.testing.assert_allclose(product, np.outer(back, back), rtol=1e-6)


# --- defects ---
@pytest.mark.limits
async def test_t1_fusion_gives_the_same_in_every_strategy_of_a_reduction() -> None:
    """T1: a fused reduction in two passes dropped what was fused. Short, long, across and along, against float64."""
    for shape, axis in (
        ((7, 33), 1),
        ((300_000,), 0),
        ((3, 100_000), 1),
        ((100_000, 3), 0),
        ((500, 600), None),
    ):
        x, y = draw(*shape), draw(*shape)
        a, b = tg.asarray(x), tg.asarray(y)
        got, kept = await tg.fetch(
            ((a * 2 + b) ** 2).sum(axis=axis), tg.nanmean(tg.where(a > 0, a, float("nan")), axis=axis)
        )
        want = ((wide(x) * 2 + wide(y)) ** 2).sum(axis=axis)
        np.testing.assert_allclose(got, want, rtol=2e-5)
        np.testing.assert_allclose(kept, np.nanmean(np.where(x > 0, wide(x), np.nan), axis=axis), rtol=2e-5)


async def test_t2_long_inner_sizes_of_products() -> None:
    """T2: pieces of k were added onto the first one while it was overwritten."""
    for k in (8_192, 65_536, 65_537, 70_003):
        a, b = draw(3, k), draw(k, 2)
        got = await (tg.asarray(a) @ tg.asarray(b)).numpy()
        np.testing.assert_allclose(got, wide(a) @ wide(b), atol=4 * EPS * k * 1.0)
    ones = await (tg.ones((2, 100_000)) @ tg.ones((100_000, 2))).numpy()
    assert (ones == 100_000).all()


@pytest.mark.limits
async def test_t3_comparisons_of_large_arrays() -> None:
    """T3: comparisons ignored the offset of a chunk."""
    n = 1_200_003
    x = tg.arange(n) % 7
    less, both, lost = await tg.fetch((x < 3).sum(), ((x > 1) & (x < 5)).sum(), tg.isnan(x * 1.0).sum())
    host = np.arange(n) % 7
    assert (less, both, lost) == ((host < 3).sum(), ((host > 1) & (host < 5)).sum(), 0)
    assert (await (x == 3)[-4:].numpy()).tolist() == (host == 3)[-4:].tolist()


async def test_t5_counts_of_nonzeros() -> None:
    """T5: partial counts were counted again as 0 or 1; a single element gave its value."""
    for n in (1, 2, 255, 512, 65_537, 500_001):
        host = (np.arange(n) % 3).astype(np.float32) * 5
        assert int(await tg.count_nonzero(tg.asarray(host)).numpy()) == np.count_nonzero(host)
    assert int(await tg.count_nonzero(np.float32([9])).numpy()) == 1


async def test_t6_powers_of_2_are_no_squares_and_nothing_is_stale() -> None:
    """T6: mean(exp2(x)) was the mean of squares; means were remembered beyond an assignment."""
    x = tg.asarray(np.float32([1, 2, 3]))
    mean, of_powers, of_squares = await tg.fetch(x.mean(), tg.exp2(x).mean(), (x * x).mean())
    np.testing.assert_allclose([mean, of_powers, of_squares], [2, 14 / 3, 14 / 3], rtol=1e-6)
    y = tg.asarray(np.float32([0, 1, 5]))
    assert float(await tg.exp2(y).mean().numpy()) == pytest.approx(35 / 3)
    before = y.mean()
    y[0] = 30
    old, new = await tg.fetch(before, y.mean())
    assert (old, new) == (2, 12)


async def test_t7_operations_without_effect_are_no_aliases() -> None:
    """T7: flips, shifts and scans without effect returned the caller's own handle, which was freed or written to."""
    x = tg.asarray(np.float32([[1, 2, 3]]))
    made = [
        tg.flip(x, axis=0),
        tg.roll(x, 0),
        tg.roll(x, 3),
        tg.cumsum(x, axis=0),
        tg.cumprod(x, axis=0),
        tg.flip(tg.cumsum(tg.flip(x, axis=0), axis=0), axis=0),
        tg.tril(x, 5),
        tg.sort(x, axis=0),
        tg.positive(x),
    ]
    nothing = tg.zeros((0, 3))
    empties = [
        tg.tril(nothing),
        tg.triu(nothing),
        tg.cumsum(nothing, axis=0),
        tg.flip(nothing),
        tg.roll(nothing, 1),
    ]
    same = tg.diff(x, 0)  # the operand itself, as NumPy's
    x[0, 0] = 9
    assert all(part.shape == (0, 3) for part in await tg.fetch(*empties))
    assert (await same.numpy()).tolist() == [[9, 2, 3]]
    for got in await tg.fetch(*made[1:]):
        assert got.tolist() == [[1, 2, 3]]
    assert (await made[0].numpy()).tolist() == [[9, 2, 3]]  # a view, as NumPy's
    del made
    assert (await x.numpy()).tolist() == [[9, 2, 3]]
    reverse = await tg.flip(tg.cumsum(tg.flip(x, axis=1), axis=1), axis=1).numpy()
    assert reverse.tolist() == [[14, 5, 3]]


async def test_t9_axes_count_from_0_everywhere() -> None:
    """T9: some methods counted dimensions from 1."""
    cases = [
        (tg.concat([tg.asarray(A), tg.asarray(A)], axis=0), np.concatenate([A, A], 0)),
        (linalg.cross(X, Y, axis=-1), np.cross(X, Y)),
        (tg.vecdot(X, Y, axis=0), (X * Y).sum(0)),
        (tg.median(tg.asarray(A), axis=0), np.median(A, 0)),
        (tg.median(tg.asarray(A), axis=1), np.median(A, 1)),
    ]
    await check([(*c, 1e-5) for c in cases], "T9")
    for f in (
        lambda: tg.median(tg.asarray(A), axis=2),
        lambda: tg.concat([tg.asarray(A)] * 2, axis=2),
        lambda: tg.cumsum(tg.asarray(A), axis=-3),
    ):
        with pytest.raises(tg.AxisError):
            f()


# --- fused entry points, device, telemetry ---
async def test_fused_elementwise() -> None:
    """RM-fused_elementwise, RM-fused_elementwise_multi: one launch for an expression, one or several results."""
    a, b = tg.asarray(A), tg.asarray(A[:1])
    before = tg.memory()["launches"]
    got = await tg.sin(a * b + 1).numpy()
    assert tg.memory()["launches"] - before == 1
    np.testing.assert_allclose(got, np.sin(wide(A) * wide(A[:1]) + 1), rtol=1e-5, atol=1e-6)
    before = tg.memory()["launches"]
    low, high = await tg.fetch(a + b, a - b)
    assert tg.memory()["launches"] - before == 1
    np.testing.assert_array_equal(low, A + A[:1])
    np.testing.assert_array_equal(high, A - A[:1])


async def test_fused_reduction() -> None:
    """RM-fused_reduction: what is mapped before and after joins the launch of the sum."""
    a = tg.asarray(A)
    await a.sum().numpy()
    before = tg.memory()["launches"]
    got = await (tg.sqrt(tg.abs(a) * 3).sum(axis=1) / 8).numpy()
    assert tg.memory()["launches"] - before == 1
    np.testing.assert_allclose(got, np.sqrt(np.abs(wide(A)) * 3).sum(1) / 8, rtol=1e-6)


async def test_upload_download_and_free() -> None:
    """RM-upload, RM-download, RM-free: bytes are counted, views are read as they are, memory is given back."""
    await tg.synchronize()
    before = tg.memory()
    x = tg.asarray(np.ones((64, 100), np.float32))
    assert tg.memory()["bytes_uploaded"] - before["bytes_uploaded"] == 25_600
    assert (await x.T[3:5].numpy()).shape == (2, 64)
    assert tg.memory()["bytes_read"] - before["bytes_read"] == 2 * 64 * 4
    live = tg.memory()["live_bytes"]
    del x
    assert live - tg.memory()["live_bytes"] >= 25_600
    assert (await tg.asarray(np.zeros((0, 3), np.float32)).numpy()).shape == (0, 3)


async def test_device_and_its_information() -> None:
    """RM-device_id, RM-device_info, RM-device_info_struct, RM-precision, RM-export_context, RM-warmup,
    RM-last_warmup_millis, RM-fused_cache_counters, RM-telemetry_snapshot, RM-reset_telemetry."""
    device, told = tg.device(), tg.telemetry()
    assert device.name and told["adapter"]["number"] >= 1 and set(device.info) >= {"vendor"}
    assert device.limits["maxBufferSize"] >= 2**28 and tg.zeros(1).dtype is tg.float32
    assert device.js is not None
    compiled = await tg.warmup(lambda v: tg.sinh(v * 2.25) - 1, tg.ShapeDtype((31,), tg.float32))
    assert compiled >= 0 and told["caches"]["pipelines"]["compile_seconds"] >= 0
    caches = tg.telemetry()["caches"]
    assert caches["pipelines"] and caches["programs"]
    tg.telemetry(reset=True)
    assert tg.telemetry()["work"]["launches"] == 0


async def test_buffers_are_shared() -> None:
    """RM-export_wgpu_buffer: the buffer with offset, shape and dtype."""
    x = tg.asarray(np.arange(12, dtype=np.float32)).reshape(3, 4)
    shared = x.gpu_buffer()
    assert (
        shared.shape == (3, 4)
        and shared.dtype is tg.float32
        and shared.offset % 4 == 0
        and shared.buffer is not None
    )


def test_reductions_choose_their_strategy() -> None:
    """RM-default_reduction_workgroup_size, RM-two_pass_threshold, RM-reduction_two_pass_mode: one plan by the sizes
    and the device's limits, which telemetry tells; nothing to set."""
    planner = tg.telemetry()["planner"]
    assert planner["workgroup"] >= 32


async def test_products_are_expressions() -> None:
    """RM-take_matmul_sources: a product is pending until it is read, and what follows joins its launch."""
    a, b = tg.asarray(X), tg.asarray(Y.T.copy())
    await (a @ b).numpy()
    before = tg.memory()["launches"]
    got = await tg.maximum(a @ b + 1, 0).numpy()
    assert tg.memory()["launches"] - before == 1
    np.testing.assert_allclose(got, np.maximum(wide(X) @ wide(Y).T + 1, 0), rtol=1e-5, atol=1e-6)
