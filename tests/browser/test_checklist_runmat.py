"""The runmat checklist's rows of creation, elementwise functions, reductions, scans, sorting, structure and indexing,
against NumPy in float64: plain, transposed, reversed and strided, broadcast, 1 x 1, empty and special operands. The
other rows: test_checklist_runmat_more.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from checked import A, check, wide

import tabgpu as tg
from tabgpu import special

rng = np.random.default_rng(2011)
V = rng.normal(size=29).astype(np.float32)
SPECIAL = np.float32([0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-30, 1e30, np.inf, -np.inf, np.nan])


class Pairs:
    """What a function gives, made anew each time: an array belongs to the device that is open."""

    def __init__(self, make: Any) -> None:
        self.make = make

    def __iter__(self) -> Any:
        return iter(self.make())


OPERANDS = Pairs(
    lambda: [
        (A, tg.asarray(A)),
        (A.T, tg.asarray(A).T),
        (A[::-1, ::3], tg.asarray(A)[::-1, ::3]),
        (np.broadcast_to(A[:1], (3, 8)), tg.broadcast_to(tg.asarray(A)[:1], (3, 8))),
        (A[:1, :1], tg.asarray(A)[:1, :1]),
        (A[:0], tg.asarray(A)[:0]),
        (A[0, 0], tg.asarray(A)[0, 0]),
        (SPECIAL, tg.asarray(SPECIAL)),
    ]
)


def unary(ours: Any, theirs: Any, keep: Any = None) -> list[Any]:
    """Every operand, or those parts of it that `keep` lets through (a function that makes them fit the domain)."""
    with np.errstate(all="ignore"):
        cases = []
        for host, device in OPERANDS:
            x, d = (host, device) if keep is None else (keep(host), tg.asarray(np.array(keep(host))))
            cases.append((ours(d), theirs(wide(x))))
        return cases


def binary(ours: Any, theirs: Any, *, exact: bool = False) -> list[Any]:
    """Same shapes, broadcasting, strided and reversed views, empties, all pairs of special values."""
    b = (rng.normal(size=(5, 8)) * 2).astype(np.float32)
    x, y = tg.asarray(A), tg.asarray(b)
    p, q = (g.reshape(-1) for g in np.meshgrid(SPECIAL, SPECIAL))
    pairs = [
        (A, b, x, y),
        (A.T, b.T, x.T, y.T),
        (A[:, :1], b[:1], x[:, :1], y[:1]),
        (A[::-1], b[:, ::-1], x[::-1], y[:, ::-1]),
        (A[0], b, x[0], y),
        (A[:0], b[:1], x[:0], y[:1]),
        (A[:1, :1], b[:1, :1], x[:1, :1], y[:1, :1]),
        (p, q, tg.asarray(p), tg.asarray(q)),
    ]
    with np.errstate(all="ignore"):
        return [(ours(g, h), theirs(wide(a), wide(c))) for a, c, g, h in pairs]


def gamma(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return sp.gamma(x)


def next_power(x: Any) -> Any:
    m, e = np.frexp(np.abs(x))
    with np.errstate(all="ignore"):
        return np.where(
            np.isfinite(x) & (x != 0), np.where(m == 0.5, e - 1, e), np.where(x == 0, 0, np.abs(x))
        )


def safe(x: Any) -> Any:
    """Without what is near a pole of gamma or beyond float32."""
    return np.where(np.isfinite(x), np.clip(np.abs(x), 0.3, 20), 1).astype(np.float32)


def whole(x: Any) -> Any:
    return np.where(np.isfinite(x), np.clip(np.rint(np.abs(x)), 0, 20), 3).astype(np.float32)


def unit(x: Any) -> Any:
    return np.tanh(x).astype(np.float32)


CREATION: dict[str, Any] = {
    "RM-zeros": lambda: [(tg.zeros(s), np.zeros(s)) for s in ((2, 3), (0,), (1, 1), (), (2, 0, 3))],
    "RM-zeros_like": lambda: [(tg.zeros_like(d), np.zeros(np.shape(h))) for h, d in OPERANDS],
    "RM-fill": lambda: [(tg.full(s, 2.5), np.full(s, 2.5)) for s in ((2, 3), (0,), (), (70_000,))],
    "RM-fill_like": lambda: [(tg.full_like(d, -1.5), np.full(np.shape(h), -1.5)) for h, d in OPERANDS],
    "RM-eye": lambda: [
        (tg.eye(n, m, k=k), np.eye(n, m, k))
        for n, m, k in ((3, 3, 0), (2, 5, 1), (5, 2, -1), (0, 0, 0), (1, 1, 0))
    ],
    "RM-eye_like": lambda: [(tg.eye(*d.shape), np.eye(*h.shape)) for h, d in OPERANDS if h.ndim == 2],
    "RM-linspace": lambda: (
        [
            (tg.linspace(a, b, n, endpoint=e), np.linspace(a, b, n, endpoint=e), 2e-6)
            for a, b, n, e in (
                (0, 1, 5, True),
                (-2, 7, 1, True),
                (3, 3, 4, False),
                (0, 1, 0, True),
                (1, -1, 1001, False),
            )
        ]
        + [(tg.linspace(0, 1.0726e15, 100)[-1:], np.float32([1.0726e15]))]
    ),
    "RM-meshgrid": lambda: [
        (tg.meshgrid(*v, indexing=i), tuple(np.meshgrid(*v, indexing=i)))
        for v in ([V[:3], V[:4]], [V[:2], V[:3], V[:4]], [V[:3], V[:1]], [V[:0], V[:2]])
        for i in ("xy", "ij")
    ],
}

UNARY: dict[str, Any] = {
    f"RM-unary_{ours}": (lambda name=name: unary(getattr(tg, name), getattr(np, name)))
    for ours, name in {
        "sin": "sin",
        "cos": "cos",
        "tan": "tan",
        "atan": "arctan",
        "sinh": "sinh",
        "cosh": "cosh",
        "tanh": "tanh",
        "asinh": "arcsinh",
        "exp": "exp",
        "log": "log",
        "log1p": "log1p",
        "sqrt": "sqrt",
        "abs": "abs",
        "ceil": "ceil",
        "floor": "floor",
        "fix": "trunc",
        "conj": "conj",
        "pow2": "exp2",
        "asin": "arcsin",
        "acos": "arccos",
        "acosh": "arccosh",
        "atanh": "arctanh",
    }.items()
}
UNARY_IDS = (
    "RM-unary_sin",
    "RM-unary_cos",
    "RM-unary_tan",
    "RM-unary_asin",
    "RM-unary_acos",
    "RM-unary_atan",
    "RM-unary_sinh",
    "RM-unary_cosh",
    "RM-unary_tanh",
    "RM-unary_asinh",
    "RM-unary_acosh",
    "RM-unary_atanh",
    "RM-unary_exp",
    "RM-unary_log",
    "RM-unary_log1p",
    "RM-unary_sqrt",
    "RM-unary_abs",
    "RM-unary_ceil",
    "RM-unary_floor",
    "RM-unary_fix",
    "RM-unary_conj",
    "RM-unary_pow2",
)

OTHER_UNARY: dict[str, Any] = {
    "RM-unary_gamma": lambda: [(g, w, 2e-6) for g, w in unary(special.gamma, gamma, safe)],
    "RM-unary_factorial": lambda: [
        (g, w, 2e-6) for g, w in unary(special.factorial, lambda x: gamma(x + 1), whole)
    ],
    "RM-unary_nextpow2": lambda: unary(tg.nextpow2, next_power),
    "RM-unary_single": lambda: unary(lambda x: x.astype("float32"), lambda x: x),
    "RM-map_nan_to_zero": lambda: [
        (
            tg.nan_to_num(d, posinf=np.inf, neginf=-np.inf),
            np.nan_to_num(wide(h), posinf=np.inf, neginf=-np.inf),
        )
        for h, d in OPERANDS
    ],
    "RM-not_nan_mask": lambda: [(~tg.isnan(d), ~np.isnan(h)) for h, d in OPERANDS],
}

BINARY: dict[str, Any] = {
    "RM-elem_add": lambda: binary(tg.add, np.add),
    "RM-elem_sub": lambda: binary(tg.subtract, np.subtract),
    "RM-elem_mul": lambda: [(g, w.astype(np.float32)) for g, w in binary(tg.multiply, np.multiply)],
    "RM-elem_div": lambda: [(g, w.astype(np.float32)) for g, w in binary(tg.divide, np.divide)],
    "RM-elem_pow": lambda: [(g, w.astype(np.float32)) for g, w in binary(tg.power, np.power)],
    "RM-elem_max": lambda: binary(tg.maximum, np.maximum) + binary(tg.fmax, np.fmax),
    "RM-elem_min": lambda: binary(tg.minimum, np.minimum) + binary(tg.fmin, np.fmin),
    "RM-elem_hypot": lambda: binary(tg.hypot, np.hypot),
    "RM-elem_atan2": lambda: binary(tg.arctan2, np.arctan2),
    "RM-pow2_scale": lambda: [
        (tg.ldexp(x, e), np.ldexp(wide(x), e).astype(np.float32))
        for x in (SPECIAL, A, A[:0])
        for e in (np.int32(3), np.int32(-200), rng.integers(-9, 9, x.shape).astype(np.int32))
    ],
}

SCALAR: dict[str, Any] = {
    f"RM-scalar_{name}": (
        lambda f=f: [(f(d), np.asarray(f(wide(h)), np.float64).astype(np.float32)) for h, d in OPERANDS]
    )
    for name, f in {
        "add": lambda x: x + 2.5,
        "sub": lambda x: x - 2.5,
        "mul": lambda x: x * 2.5,
        "div": lambda x: x / 2.5,
        "rsub": lambda x: 2.5 - x,
        "rdiv": lambda x: 2.5 / x,
    }.items()
} | {
    "RM-scalar_max": lambda: [(tg.maximum(d, 0.25), np.maximum(wide(h), 0.25)) for h, d in OPERANDS],
    "RM-scalar_min": lambda: [(tg.minimum(d, 0.25), np.minimum(wide(h), 0.25)) for h, d in OPERANDS],
}
SCALAR_IDS = (
    "RM-scalar_add",
    "RM-scalar_sub",
    "RM-scalar_mul",
    "RM-scalar_div",
    "RM-scalar_rsub",
    "RM-scalar_rdiv",
    "RM-scalar_max",
    "RM-scalar_min",
)

COMPARISON: dict[str, Any] = {
    "RM-elem_eq": lambda: binary(tg.equal, np.equal),
    "RM-elem_ne": lambda: binary(tg.not_equal, np.not_equal),
    "RM-elem_lt": lambda: binary(tg.less, np.less),
    "RM-elem_le": lambda: binary(tg.less_equal, np.less_equal),
    "RM-elem_gt": lambda: binary(tg.greater, np.greater),
    "RM-elem_ge": lambda: binary(tg.greater_equal, np.greater_equal),
    "RM-logical_and": lambda: binary(tg.logical_and, np.logical_and),
    "RM-logical_or": lambda: binary(tg.logical_or, np.logical_or),
    "RM-logical_xor": lambda: binary(tg.logical_xor, np.logical_xor),
    "RM-logical_not": lambda: [(tg.logical_not(d), np.logical_not(h)) for h, d in OPERANDS],
    "RM-logical_isnan": lambda: [(tg.isnan(d), np.isnan(h)) for h, d in OPERANDS],
    "RM-logical_isinf": lambda: (
        [(tg.isinf(d), np.isinf(h)) for h, d in OPERANDS] + [(tg.isinf(np.float32([3.4028235e38])), [False])]
    ),
    "RM-logical_isfinite": lambda: [(tg.isfinite(d), np.isfinite(h)) for h, d in OPERANDS],
    "RM-logical_islogical": lambda: (
        [(d.dtype == tg.bool, False) for _, d in OPERANDS] + [(tg.isnan(tg.zeros(2)).dtype == bool, True)]
    ),
    "RM-logical_isreal": lambda: [
        (tg.isrealobj(tg.zeros(2)), True),
        (tg.isrealobj(tg.asarray([1j])), False),
        (tg.isreal(tg.asarray([1j, 2])), [False, True]),
    ],
}

FINITE = Pairs(lambda: [(h, d) for h, d in OPERANDS if h is not SPECIAL])
FILLED = Pairs(lambda: [(h, d) for h, d in FINITE if np.size(h)])
MATRICES = Pairs(lambda: [(h, d) for h, d in FINITE if np.ndim(h) == 2])
SUM = 2e-5


def reduced(
    ours: Any, theirs: Any, operands: Any = FINITE, tolerance: float = SUM, axes: Any = (None,)
) -> list[Any]:
    with np.errstate(all="ignore"):
        return [
            (
                ours(d, axis=a, keepdims=k) if a is not None else ours(d),
                theirs(wide(h), axis=a, keepdims=k) if a is not None else theirs(wide(h)),
                tolerance,
            )
            for h, d in operands
            for a in axes
            for k in ((True, False) if a is not None else (False,))
        ]


NAN = A.copy()
NAN[::2, ::3] = np.nan
BOOLS = Pairs(
    lambda: [
        (np.zeros((3, 4)), tg.zeros((3, 4))),
        (A > 1, tg.asarray(A > 1)),
        (NAN, tg.asarray(NAN)),
        (A[:0], tg.asarray(A)[:0]),
    ]
)


def extremes(name: str) -> list[Any]:
    value, place = (np.max, np.argmax) if name == "max" else (np.min, np.argmin)
    ours = tg.max_with_index if name == "max" else tg.min_with_index
    return [
        (ours(d, axis=a), (value(h, axis=a), place(h, axis=a))) for h, d in MATRICES if h.size for a in (0, 1)
    ]


REDUCTIONS: dict[str, Any] = {
    "RM-reduce_sum": lambda: reduced(tg.sum, np.sum),
    "RM-reduce_prod": lambda: reduced(tg.prod, np.prod),
    "RM-reduce_min": lambda: reduced(tg.min, np.min, FILLED) + [(tg.min(SPECIAL), np.nan)],
    "RM-reduce_max": lambda: reduced(tg.max, np.max, FILLED) + [(tg.max(SPECIAL), np.nan)],
    "RM-reduce_nnz": lambda: (
        [(tg.count_nonzero(d), np.count_nonzero(h)) for h, d in [*OPERANDS, *BOOLS]]
        + [(tg.count_nonzero(tg.ones(200_003)), 200_003), (tg.count_nonzero(np.float32([7.5])), 1)]
    ),
    "RM-reduce_mean": lambda: reduced(tg.mean, np.mean),
    "RM-reduce_sum_dim": lambda: reduced(tg.sum, np.sum, MATRICES, axes=(0, 1, -1)),
    "RM-reduce_prod_dim": lambda: reduced(tg.prod, np.prod, MATRICES, axes=(0, 1)),
    "RM-reduce_mean_dim": lambda: reduced(tg.mean, np.mean, MATRICES, axes=(0, 1)),
    "RM-reduce_nnz_dim": lambda: [
        (tg.count_nonzero(d, axis=a), np.count_nonzero(h, axis=a)) for h, d in BOOLS for a in (0, 1)
    ],
    "RM-reduce_any_dim": lambda: (
        [(tg.any(d, axis=a), np.any(h, axis=a)) for h, d in BOOLS for a in (0, 1)]
        + [
            (
                tg.any(tg.asarray(NAN), axis=0, where=~tg.isnan(tg.asarray(NAN))),
                np.any(NAN, axis=0, where=~np.isnan(NAN)),
            )
        ]
    ),
    "RM-reduce_all_dim": lambda: [(tg.all(d, axis=a), np.all(h, axis=a)) for h, d in BOOLS for a in (0, 1)],
    "RM-reduce_any": lambda: (
        [(tg.any(d), np.any(h)) for h, d in BOOLS] + [(tg.any(np.float32([-0.0] * 70)), False)]
    ),
    "RM-reduce_all": lambda: (
        [(tg.all(d), np.all(h)) for h, d in BOOLS] + [(tg.all(tg.ones((2, 3, 4))), True)]
    ),
    "RM-reduce_min_dim": lambda: extremes("min"),
    "RM-reduce_max_dim": lambda: extremes("max"),
    "RM-reduce_mean_nd": lambda: [
        (
            tg.mean(tg.asarray(A).reshape(2, 5, 4), axis=a, keepdims=True),
            A.reshape(2, 5, 4).mean(a, keepdims=True),
            SUM,
        )
        for a in ((0, 2), (1,), (0, 1, 2), ())
    ],
    "RM-reduce_median": lambda: (
        reduced(tg.median, np.median, FILLED)
        + [(tg.median(SPECIAL), np.nan), (tg.median(tg.zeros((0,))), np.nan)]
    ),
    "RM-reduce_median_dim": lambda: (
        reduced(tg.median, np.median, [m for m in MATRICES if m[0].size], axes=(0, 1))
        + [(tg.median(tg.asarray(NAN), axis=1), np.median(NAN, axis=1))]
    ),
    "RM-reduce_std": lambda: (
        [
            (tg.std(d, ddof=k), np.std(wide(h), ddof=k), SUM)
            for h, d in FILLED
            for k in (0, 1)
            if np.size(h) > 1
        ]
        + [(tg.nanstd(tg.asarray(NAN)), np.nanstd(wide(NAN)), SUM), (tg.std(tg.zeros((0,))), np.nan)]
    ),
    "RM-reduce_std_dim": lambda: [
        (tg.std(d, axis=a, ddof=k), np.std(wide(h), axis=a, ddof=k), SUM)
        for h, d in MATRICES
        if min(h.shape) > 1
        for a in (0, 1)
        for k in (0, 1)
    ],
}

SCANS: dict[str, Any] = {
    "RM-cumsum_scan": lambda: (
        [(tg.cumsum(d, axis=a), np.cumsum(wide(h), axis=a), SUM) for h, d in MATRICES for a in (0, 1)]
        + [
            (
                tg.flip(tg.cumsum(tg.flip(tg.asarray(A), axis=1), axis=1), axis=1),
                np.flip(np.cumsum(np.flip(wide(A), 1), 1), 1),
                SUM,
            )
        ]
        + [(tg.nancumsum(tg.asarray(NAN), axis=0), np.nancumsum(wide(NAN), axis=0), SUM)]
    ),
    "RM-cumprod_scan": lambda: (
        [(tg.cumprod(d, axis=a), np.cumprod(wide(h), axis=a), SUM) for h, d in MATRICES for a in (0, 1)]
        + [(tg.nancumprod(tg.asarray(NAN), axis=1), np.nancumprod(wide(NAN), axis=1), SUM)]
    ),
    "RM-cummin_scan": lambda: [
        (tg.cumulative_min(d, axis=a), np.minimum.accumulate(h, axis=a)) for h, d in MATRICES for a in (0, 1)
    ],
    "RM-cummax_scan": lambda: [
        (tg.cumulative_max(d, axis=a), np.maximum.accumulate(h, axis=a)) for h, d in MATRICES for a in (0, 1)
    ],
    "RM-diff_dim": lambda: [
        (tg.diff(d, n=n, axis=a), np.diff(wide(h), n=n, axis=a), SUM)
        for h, d in MATRICES
        for a in (0, 1)
        for n in (0, 1, 2, 9)
    ],
    "RM-gradient_dim": lambda: [
        (tg.gradient(d, 0.5, axis=a), np.gradient(wide(h), 0.5, axis=a), SUM)
        for h, d in MATRICES
        if min(h.shape) > 1
        for a in (0, 1)
    ],
}


def find(x: Any, mask: Any) -> list[Any]:
    flat = np.flatnonzero(mask)
    return [
        (tg.aio.flatnonzero(x), flat),
        (tg.aio.nonzero(x), np.nonzero(mask)),
        (tg.flatnonzero(x, size=2, fill_value=-1), np.r_[flat, -1, -1][:2]),
        (
            tg.flatnonzero(x, size=2, last=True, fill_value=-1),
            np.r_[flat, -1, -1][:2] if flat.size < 2 else flat[-2:],
        ),
    ]


SORTS: dict[str, Any] = {
    "RM-sort_dim": lambda: (
        [
            (
                tg.sort(d, axis=a, descending=down),
                np.flip(np.sort(h, axis=a), a) if down else np.sort(h, axis=a),
            )
            for h, d in MATRICES
            for a in (0, 1)
            for down in (False, True)
        ]
        + [(tg.argsort(np.float32([1, 0, 1, 0])), [1, 3, 0, 2]), (tg.sort(SPECIAL), np.sort(SPECIAL))]
    ),
    "RM-unique": lambda: [
        (
            tg.aio.unique(np.float32([3, 1, 3, 2]), return_counts=True, return_index=True),
            ([1, 2, 3], [1, 3, 0], [1, 1, 2]),
        ),
        (tg.aio.unique(tg.zeros((0,))), np.zeros(0)),
    ],
    "RM-union": lambda: [(tg.aio.union1d(A, V), np.union1d(A, V))],
    "RM-setdiff": lambda: [(tg.aio.setdiff1d(A.round(), V.round()), np.setdiff1d(A.round(), V.round()))],
    "RM-find": lambda: [c for h, d in [*BOOLS, *MATRICES] for c in find(d, h)],
}

CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)


def cube() -> Any:
    return tg.asarray(CUBE)


STRUCTURE: dict[str, Any] = {
    "RM-reshape": lambda: (
        [(tg.reshape(cube(), s), CUBE.reshape(s)) for s in ((24,), (4, 6), (2, -1), (1, 24, 1))]
        + [(tg.reshape(d, (-1,)), h.reshape(-1)) for h, d in FILLED]
    ),
    "RM-permute": lambda: [
        (tg.permute_dims(cube(), p), CUBE.transpose(p)) for p in ((0, 1, 2), (2, 0, 1), (1, 2, 0), (-1, 0, 1))
    ],
    "RM-flip": lambda: [(tg.flip(cube(), axis=a), np.flip(CUBE, a)) for a in (None, 0, (0, 2), -1)],
    "RM-circshift": lambda: [
        (tg.roll(CUBE, s, axis=a), np.roll(CUBE, s, a))
        for s, a in ((1, 0), (-5, 2), ((1, 2), (0, 1)), (0, 1), (7, None))
    ],
    "RM-cat": lambda: [
        (tg.concat([CUBE, CUBE[:1]], axis=0), np.concatenate([CUBE, CUBE[:1]])),
        (tg.concat([A, A[:, :0], A], axis=1), np.concatenate([A, A], 1)),
        (tg.concat([A.T, A.T], axis=-2), np.concatenate([A.T, A.T], -2)),
    ],
    "RM-repmat": lambda: [(tg.tile(A, r), np.tile(A, r)) for r in (2, (2, 3), (0, 1), (2, 1, 2), 1)],
    "RM-diag_from_vector": lambda: [
        (tg.diag(V[:n], k), np.diag(V[:n], k)) for n in (0, 1, 5) for k in (-2, 0, 3)
    ],
    "RM-diag_extract": lambda: [(tg.diagonal(A, k), np.diagonal(A, k)) for k in (-9, -1, 0, 3, 9)],
    "RM-tril": lambda: [(tg.tril(x, k), np.tril(x, k)) for x in (A, CUBE, A[:0]) for k in (-2, 0, 1, 99)],
    "RM-triu": lambda: [(tg.triu(x, k), np.triu(x, k)) for x in (A, CUBE, A.T) for k in (-2, 0, 1, 99)],
}


def put(n: int) -> Any:
    x = tg.asarray(V).copy()
    tg.put(x, np.arange(n)[::-1].copy(), V[:n])
    return x


def scattered(key: Any) -> Any:
    x = tg.asarray(A).copy()
    x[key] = tg.asarray(A[0, : x[key].shape[0]])
    return x


def scattered_host(key: Any) -> Any:
    x = A.copy()
    x[key] = A[0, : x[key].shape[0]]
    return x


def put_host(n: int) -> Any:
    x = V.copy()
    np.put(x, np.arange(n)[::-1], V[:n])
    return x


INDEX = rng.integers(0, 40, (3, 5)).astype(np.int32)
INDEXING: dict[str, Any] = {
    "RM-gather_linear": lambda: [
        (tg.take(A, INDEX), np.take(A, INDEX)),
        (tg.take(A, [-1, 0]), np.take(A, [-1, 0])),
        (tg.take(A, np.zeros(0, np.int32)), np.zeros(0)),
    ],
    "RM-scatter_linear": lambda: [(put(n), put_host(n)) for n in (0, 1, 7)],
    "RM-scatter_column": lambda: [
        (scattered((slice(None), j)), scattered_host((slice(None), j))) for j in (0, 3, -1)
    ],
    "RM-scatter_row": lambda: [(scattered(i), scattered_host(i)) for i in (0, 2, -1)],
    "RM-sub2ind": lambda: [
        (
            tg.ravel_multi_index((tg.asarray(INDEX // 8), tg.asarray(INDEX % 8)), (5, 8)),
            np.ravel_multi_index((INDEX // 8, INDEX % 8), (5, 8)),
        )
    ],
    "RM-ind2sub": lambda: [
        (tg.unravel_index(tg.asarray(INDEX), s), np.unravel_index(INDEX, s))
        for s in ((5, 8), (2, 4, 5), (40,))
    ],
    "RM-read_scalar": lambda: [(tg.asarray(A).T.item(k), A.T.reshape(-1)[k]) for k in (0, 7, 39)],
}


@pytest.mark.parametrize("row", CREATION)
async def test_creation(row: str) -> None:
    await check(CREATION[row](), row)


@pytest.mark.parametrize("row", UNARY_IDS)
async def test_unary(row: str) -> None:
    await check(UNARY[row](), row)


@pytest.mark.parametrize("row", OTHER_UNARY)
async def test_other_unary(row: str) -> None:
    await check(OTHER_UNARY[row](), row)


@pytest.mark.parametrize("row", BINARY)
async def test_binary(row: str) -> None:
    await check(BINARY[row](), row)


@pytest.mark.parametrize("row", SCALAR_IDS)
async def test_scalar(row: str) -> None:
    await check(SCALAR[row](), row)


@pytest.mark.parametrize("row", COMPARISON)
async def test_comparison(row: str) -> None:
    await check(COMPARISON[row](), row)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", REDUCTIONS)
async def test_reduction(row: str) -> None:
    await check(REDUCTIONS[row](), row)


@pytest.mark.parametrize("row", SCANS)
async def test_scan(row: str) -> None:
    await check(SCANS[row](), row)


@pytest.mark.parametrize("row", SORTS)
async def test_sort(row: str) -> None:
    await check(SORTS[row](), row)


@pytest.mark.parametrize("row", STRUCTURE)
async def test_structure(row: str) -> None:
    await check(STRUCTURE[row](), row)


@pytest.mark.parametrize("row", INDEXING)
async def test_indexing(row: str) -> None:
    await check(INDEXING[row](), row)


def test_double_precision_is_refused() -> None:
    """RM-unary_double: float64 does not exist on WebGPU."""
    with pytest.raises(TypeError, match="float64"):
        tg.asarray(V).astype("float64")


async def test_bad_indices_raise_at_the_read() -> None:
    """RM-supports_ind2sub: a capability that is always there; what is out of range is named at the read."""
    assert callable(tg.unravel_index)
    with pytest.raises((IndexError, ValueError), match="out of"):
        await tg.unravel_index(tg.asarray(np.int32([99])), (5, 8))[0].numpy()
    assert math.prod(tg.unravel_index(tg.asarray(INDEX), (5, 8))[0].shape) == 15
