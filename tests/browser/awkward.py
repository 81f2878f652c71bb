"""Awkward operands (odd, 1 x 1, empty, batched, with NaN and inf, ill-conditioned) in awkward layouts, and a
comparison of tabgpu's functions with NumPy's and SciPy's in float64. The table: test_awkward_rows.py. No tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.polynomial.polynomial
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats

import tabgpu as tg

EPS = 2.0**-24
RNG = np.random.default_rng(1709)


class Theirs:
    """numpy, with SciPy's packages under tabgpu's names; numpy's linalg and fft come first."""

    def __init__(self, *packages: Any, **under: Any) -> None:
        self.packages = packages
        self.__dict__.update(under)

    def __getattr__(self, name: str) -> Any:
        for package in self.packages:
            if hasattr(package, name):
                return getattr(package, name)
        raise AttributeError(name)


THEIRS = Theirs(
    np,
    linalg=Theirs(np.linalg, scipy.linalg),
    fft=Theirs(np.fft, scipy.fft),
    signal=Theirs(scipy.signal, scipy.integrate),
    image=scipy.ndimage,
    special=scipy.special,
    stats=scipy.stats,
    interpolate=scipy.interpolate,
    polynomial=numpy.polynomial.polynomial,
)


def wide(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


# --- operands ---
def draw(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def special(*shape: int) -> np.ndarray:
    """With NaN, both infinities and both zeros in it."""
    x = draw(*shape)
    x.reshape(-1)[[1, 3, 5, 7, 8]] = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0])
    return x


def well(*shape: int) -> np.ndarray:
    """Square matrices far from singular."""
    return draw(*shape) + 2 * shape[-1] ** 0.5 * np.eye(shape[-1], dtype=np.float32)


def ill(n: int, condition: float = 1e4) -> np.ndarray:
    u, _, v = np.linalg.svd(RNG.normal(size=(n, n)))
    return ((u * np.geomspace(1, 1 / condition, n)) @ v).astype(np.float32)


def definite(x: np.ndarray) -> np.ndarray:
    """Symmetric and positive definite, of the square of x's condition at most."""
    n = x.shape[-1]
    y = wide(x) @ np.swapaxes(wide(x), -1, -2)
    return (y + 4e-6 * n * np.abs(y).max(initial=0) * np.eye(n)).astype(np.float32)


# --- layouts: what is stored, and the view of it that is the operand ---
View = Callable[[Any], Any]


def plain(x: np.ndarray) -> tuple[np.ndarray, View]:
    return x, lambda b: b


def turned(x: np.ndarray) -> tuple[np.ndarray, View]:
    return np.ascontiguousarray(x.T), lambda b: b.T


def backwards(x: np.ndarray) -> tuple[np.ndarray, View]:
    key = (slice(None, None, -1),) * x.ndim
    return np.ascontiguousarray(x[key]), lambda b: b[key]


def stepped(x: np.ndarray) -> tuple[np.ndarray, View]:
    return _within(x, tuple(2 * n + 1 for n in x.shape), (slice(1, None, 2),) * x.ndim)


def inside(x: np.ndarray) -> tuple[np.ndarray, View]:
    key = (slice(2, None), *[slice(1, -1)] * (x.ndim - 1))
    return _within(x, (x.shape[0] + 2, *[n + 2 for n in x.shape[1:]]), key)


def _within(x: np.ndarray, shape: tuple[int, ...], key: tuple[slice, ...]) -> tuple[np.ndarray, View]:
    """In a larger array of NaN (of 77), which nothing may read."""
    base = np.full(shape, np.nan if x.dtype.kind in "fc" else 77, x.dtype)
    base[key] = x
    return base, lambda b: b[key]


LAYOUTS = (turned, stepped, backwards, inside, plain)


def placed(x: Any, layout: Any) -> tuple[Any, Any]:
    """(the operand in float64, the same on the GPU in that layout)."""
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x, x
    base, view = layout(x)
    return wide(x), view(tg.asarray(base))


# --- comparison ---
def flat(found: Any) -> Iterator[Any]:
    if isinstance(found, (tuple, list)):
        for part in found:
            yield from flat(part)
    elif found is not None:
        yield found


def difference(got: Any, want: Any, tolerance: float) -> str:
    """In what they differ; tolerance: of the greatest finite element."""
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    kinds = {got.dtype.kind, want.dtype.kind}
    if len(kinds) > 1 and not kinds <= set("iu"):
        return f"dtype {got.dtype} for {want.dtype}"
    if want.dtype.kind not in "fc":
        return f"{(got != want).sum()} of {want.size} differ" if (got != want).any() else ""
    size = np.abs(want[np.isfinite(want)]).max(initial=0)
    parts = [(got.real, want.real), (got.imag, want.imag)] if want.dtype.kind == "c" else [(got, want)]
    for g, w in parts:
        finite = np.isfinite(w)
        if (np.isnan(g) != np.isnan(w)).any():
            return f"{np.isnan(g).sum()} NaN, not {np.isnan(w).sum()}"
        if (g[~finite & ~np.isnan(w)] != w[~finite & ~np.isnan(w)]).any():
            return "infinities differ"
        error = np.abs(g[finite] - w[finite]).max(initial=0)
        if not error <= tolerance * size + 1e-30:
            return f"{error / size if size else error:.3g} off, tolerance {tolerance:.3g}"
    return ""


def once(functions: Any, operands: Any) -> list[Any]:
    """Each function and each operand at least once, each time the next ones, in the next layout."""
    most = max(len(functions), len(operands))
    return [(k % len(functions), k % len(operands), LAYOUTS[k % len(LAYOUTS)]) for k in range(most)]


def all_pairs(functions: Any, operands: Any) -> list[Any]:
    """Each function with each operand, each time in the next layout."""
    pairs = product(range(len(functions)), range(len(operands)))
    return [(j, k, LAYOUTS[(j + k) % len(LAYOUTS)]) for j, k in pairs]


def all_layouts(functions: Any, operands: Any) -> list[Any]:
    """Each function with each operand in each layout."""
    return list(product(range(len(functions)), range(len(operands)), LAYOUTS))


async def compare(functions: Any, operands: Any, tolerance: float, which: Any) -> list[str]:
    """What is wrong in the calls that `which` chooses. Where NumPy or SciPy raises, so must tabgpu, at the call or at
    the read."""
    wrong: list[str] = []
    pending: list[tuple[str, list[Any], list[Any]]] = []
    for j, k, layout in which(functions, operands):
        f, given = functions[j], operands[k]
        pairs = [placed(x, layout) for x in given]
        label = f"function {j} of {[getattr(x, 'shape', x) for x in given]} {layout.__name__}"
        try:
            with np.errstate(all="ignore"):
                want = list(flat(f(THEIRS, *[p[0] for p in pairs])))
        except Exception as error:  # ours must raise too
            if not await _raises(f, [p[1] for p in pairs]):
                wrong.append(f"{label}: no error, but {type(error).__name__}: {error}")
            continue
        try:
            pending.append((label, list(flat(f(tg, *[p[1] for p in pairs]))), want))
        except Exception as error:
            wrong.append(f"{label}: {type(error).__name__}: {error}")
    read = iter(await _read([x for _, got, _ in pending for x in got]))
    for label, got, want in pending:
        found = [next(read) for _ in got]
        if len(got) != len(want):
            wrong.append(f"{label}: {len(got)} results, not {len(want)}")
            continue
        for g, w in zip(found, want, strict=True):
            text = difference(g, w, tolerance) if isinstance(g, np.ndarray) else f"{type(g).__name__}: {g}"
            if text:
                wrong.append(f"{label}: {text}")
    return wrong


async def _read(results: list[Any]) -> list[Any]:
    """All at once; if one cannot be read, one by one, with errors in the places of values."""
    there = [x for x in results if isinstance(x, tg.Array)]
    try:
        read = await tg.fetch(*there) if len(there) > 1 else [await x.numpy() for x in there]
    except Exception:
        read = []
        for x in there:
            try:
                read.append(await x.numpy())
            except Exception as error:
                read.append(error)
    values = iter(read)
    made = [next(values) if isinstance(x, tg.Array) else np.asarray(x) for x in results]
    return [x if isinstance(x, Exception) else np.asarray(x) for x in made]


async def _raises(f: Any, operands: list[Any]) -> bool:
    try:
        for x in flat(f(tg, *operands)):
            await x.numpy()
    except (ValueError, TypeError, IndexError, ArithmeticError):
        return True
    return False
