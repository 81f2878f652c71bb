"""The runmat checklist's rows that take arrays, each over operands that are odd, 1 x 1, empty, batched, special and
ill-conditioned, in every layout, beside NumPy and SciPy in float64. Here each function and each operand once; all of
both in all layouts, natively: tests/sci/test_awkward.py. Rows of elementwise functions are swept in
test_checklist_runmat.py, factorisations by backward errors in test_awkward_factors.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from awkward import RNG, compare, draw, ill, once, special, well

import tabgpu as tg

ANY = [
    (draw(5, 7),), (draw(1, 1),), (draw(33),), (draw(2, 3, 4),), (draw(0, 3),), (draw(3, 0),), (draw(0),),
    (special(5, 7),), (special(2, 3, 5),), (draw(1),),
]  # fmt: skip
FULL = [x for x in ANY if x[0].size]
FINITE = [x for x in ANY if np.isfinite(x[0]).all()]
MANY = [x for x in FULL if min(x[0].shape) > 1]
MATRICES = [x for x in ANY if x[0].ndim == 2] + [(draw(33, 17),), (draw(1, 9),), (draw(9, 1),)]
BATCHES = [*MATRICES, (draw(2, 3, 4, 5),), (draw(2, 0, 3),)]
FINITE_BATCHES = [x for x in BATCHES if np.isfinite(x[0]).all()]
WELL = [(well(n, n),) for n in (1, 2, 3, 17)] + [(well(2, 3, 5, 5),)]
SQUARE = [*WELL, (np.zeros((0, 0), np.float32),), (np.zeros((2, 0, 0), np.float32),)]
COMPLEX = [((x + 0.4j * np.swapaxes(x, -1, -2)).astype(np.complex64),) for (x,) in SQUARE]
SYSTEMS = [
    (well(1, 1), draw(1, 1)), (well(3, 3), draw(3)), (well(17, 17), draw(17, 5)), (well(2, 3, 5, 5), draw(2, 3, 5, 2)),
    (well(5, 5), draw(4, 5, 2)), (draw(0, 0), draw(0, 2)), (well(3, 3), draw(3, 0)), (ill(9), draw(9, 2)),
]  # fmt: skip
INTS = [(RNG.integers(0, 6, s).astype(np.int32),) for s in ((7,), (1,), (0,), (5, 7), (1, 1), (2, 3, 4))]
KEYS = [*INTS, *[(x.astype(np.float32),) for (x,) in INTS], (special(33),)]
LINES = [
    (draw(33),), (draw(1),), (draw(2),), (draw(3, 17),), (draw(2, 1, 9),), (draw(5, 1),), (draw(0, 9),), (draw(130),)
]  # fmt: skip
SPOILT = draw(3, 17)
SPOILT[1, 5] = np.nan
PICTURES = [
    (draw(5, 7),), (draw(1, 1),), (draw(1, 9),), (draw(9, 1),), (draw(33, 17),), (draw(2, 3, 4),), (draw(6),),
    (draw(0, 3),),
]  # fmt: skip
PAIRS = [(draw(a), draw(b)) for a, b in ((1, 1), (3, 5), (5, 3), (1, 4), (9, 33))]
BOX = draw(3, 2, 3)


def box(x: Any) -> Any:
    return BOX[(0,) * (3 - x.ndim)]


def name(text: str, *arguments: Any, **options: Any) -> Any:
    """m.NAME(x, ...)"""

    def call(m: Any, *operands: Any) -> Any:
        for part in text.split("."):
            m = getattr(m, part)
        return m(*operands, *arguments, **options)

    return call


def along(text: str, axes: Any = (None, 0, -1), **options: Any) -> list[Any]:
    return [name(text, axis=a, **options) for a in axes]


def magnitudes(m: Any, x: Any) -> Any:
    return m.sort(abs(m.linalg.eigvals(x)), axis=-1)


def either(ours: Any, theirs: Any) -> Any:
    """What NumPy and SciPy have no function for: a formula."""
    return lambda m, *operands: (ours if m is tg else theirs)(*operands)


def state(m: Any, x: Any) -> Any:
    """What a filter begins and ends with."""
    zi = np.arange(2 * x.size // max(x.shape[-1], 1), dtype=np.float32).reshape(*x.shape[:-1], 2)
    return m.signal.lfilter([1.0, 0.5], [2.0, -0.6, 0.2], x, zi=m.asarray(zi)) if x.size else x


def normalized(x: Any) -> Any:
    return (x - x.mean((-2, -1), keepdims=True)) / np.sqrt(x.var((-2, -1), keepdims=True) + 1e-3) * 2 + 0.5


def stepped(a: Any, b: Any) -> Any:
    product = a @ b
    return product / np.sqrt((product**2).sum(-2, keepdims=True) + 1e-3)


def moments(x: Any, axis: Any) -> Any:
    found = tg.stats.moments(x, axis)
    return found.mean, found.mean_square


def scattered(*key: Any) -> Any:
    """A row or a column replaced in a copy."""

    def call(m: Any, x: Any) -> Any:
        made = m.astype(x, x.dtype, copy=True)
        made[key] = x[key] * 2 if m is tg else x[key].copy() * 2
        return made

    return call


def rcond(x: Any) -> Any:
    return 1 / np.linalg.cond(x, 1)


ORDERS = (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
ROWS: dict[str, tuple[list[Any], Any, float]] = {
    # reductions
    "RM-reduce_sum": (along("sum") + along("nansum"), ANY, 1e-6),
    "RM-reduce_prod": (along("prod") + along("nanprod"), ANY, 3e-6),
    "RM-reduce_mean": (along("mean") + along("nanmean"), ANY, 1e-6),
    "RM-reduce_min": (along("min") + along("nanmin"), ANY, 0),
    "RM-reduce_max": (along("max") + along("nanmax") + along("ptp"), ANY, 1e-7),
    "RM-reduce_nnz": (along("count_nonzero"), ANY + INTS, 0),
    "RM-reduce_any": (along("any"), ANY + INTS, 0),
    "RM-reduce_all": (along("all"), ANY + INTS, 0),
    "RM-reduce_min_dim": (along("argmin"), ANY, 0),
    "RM-reduce_max_dim": (along("argmax"), ANY, 0),
    "RM-reduce_mean_nd": ([name("mean", axis=(0, -1), keepdims=True)], [x for x in ANY if x[0].ndim > 1], 1e-6),
    "RM-reduce_median": (along("median") + along("nanmedian"), ANY, 1e-6),
    "RM-reduce_std": (along("std") + along("var", ddof=1) + along("nanstd"), ANY, 3e-6),
    "RM-cumsum_scan": (along("cumsum") + along("nancumsum"), ANY, 1e-6),
    "RM-cumprod_scan": (along("cumprod") + along("nancumprod"), ANY, 3e-6),
    "RM-diff_dim": ([name("diff", k) for k in (0, 1, 2)] + [name("diff", axis=0)], ANY, 1e-6),
    "RM-gradient_dim": ([name("gradient", 0.5), name("gradient", axis=-1)], MANY, 1e-6),
    "RM-cummin_scan": (
        [either(lambda x, k=k: tg.cumulative_min(x, axis=k), lambda x, k=k: np.minimum.accumulate(x, k))
         for k in (0, -1)], ANY, 0,
    ),
    "RM-cummax_scan": (
        [either(lambda x, k=k: tg.cumulative_max(x, axis=k), lambda x, k=k: np.maximum.accumulate(x, k))
         for k in (0, -1)], ANY, 0,
    ),
    "RM-reduce_moments_nd": (
        [either(lambda x, k=k: moments(x, k), lambda x, k=k: (x.mean(k), (x * x).mean(k))) for k in (0, -1, None)],
        FULL, 2e-6,
    ),
    # sorting, sets
    "RM-sort_dim": (along("sort") + along("argsort", stable=True), ANY + INTS, 0),
    "RM-sort_rows": ([lambda m, x: m.lexsort([x[..., ::-1], x])], [*MATRICES, *INTS[:3]], 0),
    "RM-unique": (
        [name("unique", return_index=True, return_inverse=True, return_counts=True), name("unique")], KEYS, 0
    ),
    "RM-ismember": ([lambda m, x: m.isin(x, [1, 4]), lambda m, x: m.isin(x, [1], invert=True)], KEYS, 0),
    "RM-union": ([lambda m, x: m.union1d(x, x[:1])], KEYS, 0),
    "RM-setdiff": ([lambda m, x: m.setdiff1d(x, x[:1]), lambda m, x: m.setxor1d(x, x[1:])], KEYS, 0),
    "RM-find": ([name("nonzero"), name("flatnonzero"), name("argwhere")], ANY + INTS, 0),
    # linear algebra
    "RM-matmul": (
        [name("matmul")],
        [*SYSTEMS, (draw(3, 0), draw(0, 4)), (draw(3, 1, 4, 5), draw(2, 5, 3)), (draw(5), draw(5, 3)),
         (draw(5), draw(5))], 2e-6,
    ),
    "RM-syrk": ([lambda m, x: m.matrix_transpose(x) @ x], FINITE[:2] + BATCHES[-4:], 2e-6),
    "RM-pagefun": (
        [name("matmul")],
        [(draw(2, 1, 4, 3), draw(5, 3, 4)), (draw(0, 2, 2), draw(0, 2, 2)), (draw(7, 1, 1), draw(1, 1))], 2e-6,
    ),
    "RM-transpose": ([lambda m, x: x.T, name("transpose"), lambda m, x: m.sum(x.T, axis=0)], ANY, 1e-6),
    "RM-dot": (
        [name("linalg.vecdot")],
        [(draw(5, 3), draw(5, 3)), (draw(3), draw(5, 3)), (draw(0), draw(0)), (draw(2, 0), draw(2, 0)),
         (special(9), special(9))], 1e-6,
    ),
    "RM-cross": (
        [name("linalg.cross")],
        [(draw(3), draw(3)), (draw(5, 3), draw(5, 3)), (draw(1, 3), draw(5, 3)), (draw(0, 3), draw(0, 3)),
         (draw(2, 1, 3), draw(4, 3))], 1e-6,
    ),
    "RM-kron": (
        [name("kron")],
        [(draw(3, 4), draw(2, 4)), (draw(1, 1), draw(1, 1)), (draw(0, 3), draw(2, 3)), (draw(2, 3, 4), draw(2, 2)),
         (special(3, 3), draw(2))], 1e-6,
    ),
    "RM-linsolve": (
        [name("linalg.solve_triangular", lower=low, trans=t) for low in (False, True) for t in (0, 1)]
        + [lambda m, a, b: m.linalg.lu_solve(m.linalg.lu_factor(a), b, 1)],
        [x for x in SYSTEMS if x[0].ndim == x[1].ndim == 2 and x[0].shape[-1] != 9], 1e-5,
    ),
    "RM-mldivide": ([name("linalg.solve")], SYSTEMS[:-1], 2e-5),
    "RM-mrdivide": (
        [lambda m, a, b: m.matrix_transpose(m.linalg.solve(m.matrix_transpose(a), b))],
        [x for x in SYSTEMS[:-1] if x[1].ndim > 1], 2e-5,
    ),
    "RM-inv": ([name("linalg.inv"), name("linalg.matrix_power", -2)], SQUARE + COMPLEX, 3e-5),
    "RM-pinv": ([name("linalg.pinv")], FINITE_BATCHES, 1e-4),
    "RM-cond": ([name("linalg.cond", p) for p in ORDERS], WELL, 5e-5),
    "RM-rcond": ([either(tg.linalg.rcond, rcond)], [*WELL, *[(x,) for (x,) in COMPLEX if x.size]], 2e-5),
    "RM-matmul_power_step": (
        [either(lambda a, b: tg.linalg.power_step(a, b, 1e-3), stepped)],
        [(draw(5, 5), draw(5, 2)), (draw(1, 1), draw(1, 1)), (draw(33, 33), draw(33, 1)), (draw(3, 3), draw(3, 0))],
        3e-6,
    ),
    "RM-matmul_epilogue": (
        [either(
            lambda a, b: tg.linalg.blas.matmul_epilogue(a, b, 2.0, 0.5, row_scale=a[:, 0], clamp=(-1, 2), power=2),
            lambda a, b: np.clip((2 * (a @ b) + 0.5) * a[:, :1], -1, 2) ** 2,
        )],
        [(draw(5, 7), draw(7, 3)), (draw(1, 1), draw(1, 1)), (draw(33, 17), draw(17, 2)), (draw(0, 3), draw(3, 2))],
        3e-6,
    ),
    "RM-norm": (
        [name("linalg.norm", p, axis=(-2, -1)) for p in ORDERS]
        + [name("linalg.norm", p, axis=-1) for p in (None, 0, 1, 2, 3, 0.5, -1, np.inf, -np.inf)],
        FINITE_BATCHES, 3e-6,
    ),
    "RM-rank": (
        [name("linalg.matrix_rank"), name("linalg.matrix_rank", tol=1.5)],
        [x for x in FINITE_BATCHES if x[0].size] + [(np.outer(np.arange(9), np.arange(1, 6)).astype(np.float32),)], 0,
    ),
    "RM-issymmetric": (
        [lambda m, x: m.linalg.issymmetric(x + x.T if x.shape[0] == 3 else x)], MATRICES[:3] + SQUARE[:4], 0
    ),
    "RM-ishermitian": ([name("linalg.ishermitian")], MATRICES[:3] + COMPLEX[:4], 0),
    "RM-bandwidth": (  # SciPy's is wrong for a single row
        [lambda m, x: m.linalg.bandwidth(m.tril(x, 1))], [x for x in MATRICES if 1 not in x[0].shape], 0
    ),
    "RM-eig": ([magnitudes], SQUARE + COMPLEX, 5e-5),
    # structure
    "RM-reshape": ([lambda m, x: x.reshape(-1), lambda m, x: m.reshape(x, x.shape[::-1])], ANY, 0),
    "RM-permute": ([lambda m, x: m.moveaxis(x, 0, -1)], ANY, 0),
    "RM-flip": (along("flip"), ANY, 0),
    "RM-circshift": ([name("roll", k, axis=a) for k, a in ((1, None), (-2, 0), ((1, 2), (0, -1)))], ANY, 0),
    "RM-cat": ([lambda m, x: m.concatenate([x, x[..., :1], x], -1), lambda m, x: m.stack([x, x], -1)], ANY, 0),
    "RM-repmat": ([name("tile", r) for r in (2, (2, 3), (0, 1), (2, 1, 2))], ANY, 0),
    "RM-diag_from_vector": ([name("diag", k) for k in (-2, 0, 3)], [x for x in ANY if x[0].ndim < 3], 0),
    "RM-diag_extract": ([name("diagonal", k) for k in (-2, 0, 3)], [x for x in ANY if x[0].ndim > 1], 0),
    "RM-tril": ([name("tril", k) for k in (-2, 0, 3)], [x for x in ANY if x[0].ndim > 1], 0),
    "RM-triu": ([name("triu", k) for k in (-2, 0, 3)], [x for x in ANY if x[0].ndim > 1], 0),
    "RM-meshgrid": (
        [lambda m, x: m.meshgrid(x, x[:2]), lambda m, x: m.meshgrid(x, x, x[:1], indexing="ij")], LINES[:3], 0
    ),
    "RM-map_nan_to_zero": (
        [name("nan_to_num", 2.0, posinf=1.0, neginf=-3.0), name("nan_to_num", posinf=9.0, neginf=0.0)], ANY, 1e-7
    ),
    # indexing
    "RM-gather_linear": ([lambda m, x: m.take(x, [0, -1, 0]), name("take", [0, 0], axis=-1)], ANY, 0),
    "RM-scatter_row": ([scattered(0), scattered(-1)], [x for x in FULL if x[0].ndim > 1], 0),
    "RM-scatter_column": ([scattered(..., 0), scattered(..., -1)], [x for x in FULL if x[0].ndim > 1], 0),
    "RM-sub2ind": ([lambda m, x: m.ravel_multi_index((x, x), (7, 8))], INTS, 0),
    "RM-ind2sub": ([name("unravel_index", (2, 3)), name("unravel_index", (6,))], INTS, 0),
    # signals
    "RM-conv1d": (
        [name("signal.convolve", mode, how) for mode in ("full", "same", "valid") for how in ("direct", "fft")]
        + [name("signal.correlate", "same"), name("convolve")],
        PAIRS, 2e-6,
    ),
    "RM-conv2d": (
        [name("signal.convolve2d", mode, edge, 0.5)
         for mode in ("full", "same", "valid") for edge in ("fill", "wrap", "symm")],
        [(draw(5, 7), draw(3, 3)), (draw(1, 1), draw(1, 1)), (draw(3, 3), draw(5, 7)), (draw(9, 2), draw(2, 1))], 2e-6,
    ),
    "RM-iir_filter": (
        [lambda m, x, b=b, a=a, k=k: m.signal.lfilter(b, a, x, axis=k)
         for b, a in (
             ([1.0, 0.5], [2.0, -0.6, 0.2]), ([0.3], [1.0, -0.9]), ([0.1, 0.2, 0.3, 0.2], [1.0, -0.5, 0.3, 0.1])
         )
         for k in (0, -1)] + [state],
        [*LINES, (SPOILT,)], 2e-6,
    ),
    "RM-fft_dim": ([name("fft.fft"), name("fft.fft", 6, 0), name("fft.fftn")], LINES + COMPLEX[:4], 1e-6),
    "RM-ifft_dim": ([name("fft.ifft"), name("fft.ifft", 9, 0), name("fft.ifft2")], LINES[3:] + COMPLEX[:4], 1e-6),
    "RM-fft_extract_real": ([lambda m, x: m.real(m.fft.ifft(m.fft.fft(x)))], LINES, 1e-6),
    **{
        f"RM-{w}_window": (
            [name(f"signal.windows.{w}", n, sym) for n in (0, 1, 3, 8, 33) for sym in (True, False)], [()], 1e-6
        )
        for w in ("hann", "hamming", "blackman")
    },
    "RM-imfilter": (
        [lambda m, x, f=f, mode=mode: getattr(m.image, f)(x, box(x), mode=mode, cval=0.5)
         for f in ("correlate", "convolve") for mode in ("reflect", "constant", "nearest", "mirror", "wrap")],
        PICTURES, 2e-6,
    ),
    "RM-image_normalize": (
        [either(lambda x: tg.image.image_normalize(x, eps=1e-3, gain=2.0, bias=0.5), normalized)],
        [(draw(3, 5, 7),), (draw(1, 1, 1),), (draw(2, 33, 17),), (draw(0, 3, 3),), (special(3, 4, 5),)], 3e-6,
    ),
    # polynomials, statistics
    "RM-polyval": ([name("polyval")], [*PAIRS, (draw(3), draw(2, 3)), (draw(4), draw(0)), (draw(4), SPOILT[1])], 1e-5),
    "RM-polyfit": (
        [name("polyfit", k) for k in (0, 1, 3)], [(draw(5), draw(5)), (draw(33), draw(33)), (draw(9), draw(9, 2))], 5e-4
    ),
    "RM-polyder_single": ([name("polyder", k) for k in (0, 1, 3)], [(draw(n),) for n in (0, 1, 2, 9)], 1e-6),
    "RM-polyder_product": (
        [either(tg.polyder_product, lambda p, q: np.polyder(np.polymul(p, q)))], PAIRS[1:], 3e-6
    ),
    "RM-polyder_quotient": (
        [either(
            lambda p, q: tg.polyder_quotient(p, q)[0],
            lambda p, q: np.polysub(np.polymul(np.polyder(p), q), np.polymul(p, np.polyder(q))),
        )], PAIRS[1:], 3e-6,
    ),
    "RM-polyint": ([name("polyint"), name("polyint", 2, [3.0, 4.0])], [(draw(n),) for n in (0, 1, 2, 9)], 1e-6),
    "RM-covariance": (
        [name("cov"), name("cov", rowvar=False), name("cov", bias=True)],
        [(draw(5, 7) + 9,), (draw(33, 3),), (draw(6),), (special(5, 7),), (draw(4, 1),), (draw(1, 1),), (draw(0, 3),)],
        3e-6,
    ),
    "RM-corrcoef": (
        [name("corrcoef"), name("corrcoef", rowvar=False)],
        [(draw(5, 7) + 9,), (draw(33, 3),), (draw(6),), (special(5, 7),), (draw(4, 1),)], 3e-6,
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS)
async def test_awkward_operands(row: str) -> None:
    functions, operands, tolerance = ROWS[row]
    assert not (wrong := await compare(functions, operands, tolerance, once)), "\n".join(wrong[:12])
