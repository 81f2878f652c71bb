"""SciPy's and NumPy's own calls of linalg, fft, ndimage and signal, made again with tabgpu's arrays; a test a function.

RECORDED names the file that record.py wrote (`./build.sh sci` makes it). A result may be off by TOLERANCE of its
greatest element and by what moving the inputs by four units of float32 moves it. What is out is counted by reason, and
printed at the end with what ran.
"""

from __future__ import annotations

import inspect
import os
import pickle
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy  # noqa: F401  # by this line a tab loads it: design functions of tg.signal are SciPy's, on the host

import tabgpu as tg

TOLERANCE = 4e-5
ILL = 0.01  # of the greatest element: what moves more than this is no test of float32
HOMES = {
    "scipy.linalg": "linalg", "numpy.linalg": "linalg", "scipy.fft": "fft", "numpy.fft": "fft",
    "scipy.ndimage": "image", "scipy.signal": "signal", "scipy.signal.windows": "signal.windows",
}  # fmt: skip
# Arguments that say how and not what
HOW = {
    "overwrite_a", "overwrite_b", "overwrite_x", "overwrite_ab", "overwrite_c", "check_finite", "lapack_driver",
    "workers", "driver", "lwork", "xp",
}  # fmt: skip

path = os.environ.get("RECORDED", ".cache/recorded-calls.pickle")
RECORDS = pickle.loads(Path(path).read_bytes()) if Path(path).is_file() else []
CALLS: dict[str, list[dict[str, Any]]] = defaultdict(list)
for record in RECORDS:
    CALLS[f"{record['module']}.{record['name']}"].append(record)
FEW = int(
    os.environ.get("RECORDED_CALLS", "6")
)  # calls of a function that run by default; the others are marked slow


class Out(Exception):
    """Why a call is not made."""


def function(module: str, name: str) -> Any:
    """tabgpu's function of that name, or None."""
    found: Any = tg
    for part in (*HOMES[module].split("."), name):
        found = getattr(found, part, None)
    return found if callable(found) else None


def given(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return tg.asarray(x)
    if isinstance(x, np.dtype):
        return {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}.get(
            x.name, x.name
        )
    if isinstance(x, (list, tuple)):
        return type(x)(given(v) for v in x)
    if isinstance(x, dict):
        return {k: given(v) for k, v in x.items()}
    return x


def leaves(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [v for y in x for v in leaves(y)]
    if isinstance(x, dict):
        return [v for y in x.values() for v in leaves(y)]
    return [x]


async def values(x: Any) -> Any:
    """A result with its Arrays read."""
    if isinstance(x, tg.Array):
        return await x.numpy()
    if isinstance(x, (list, tuple)):
        return tuple([await values(v) for v in x])
    if isinstance(x, dict):
        return {k: await values(v) for k, v in x.items()}
    return x


OUTPUTS = {"out", "output", "distances", "indices"}


def arguments(call: dict[str, Any], target: Any) -> list[tuple[list[Any], dict[str, Any]]]:
    """The call's arguments for our function, in the ways that may be meant: all arrays on the GPU; or one, with the
    others, which are numbers that a kernel is chosen by, on the host; or all on the host. Out if it has no such one."""
    args, kwargs = call["args"], {k: v for k, v in call["kwargs"].items() if k not in HOW}
    if any(isinstance(v, np.ndarray) for k, v in kwargs.items() if k in OUTPUTS):
        raise Out("arguments: an array of the caller's to write to")
    try:
        inspect.signature(target).bind(*args, **kwargs)
    except TypeError as why:
        raise Out(f"arguments: {why}") from None
    except ValueError:
        pass

    def way(which: set[int], named: bool) -> tuple[list[Any], dict[str, Any]]:
        some = [given(v) if k in which else host(v) for k, v in enumerate(args)]
        return some, {k: given(v) if named else host(v) for k, v in kwargs.items()}

    everyone = set(range(len(args)))
    ways = [way(everyone, True), way(everyone, False)]
    ways += [way({k}, False) for k in everyone if isinstance(args[k], np.ndarray)]
    return [*ways, way(set(), False)]


def host(x: Any) -> Any:
    """An argument that stays on the host; names of dtypes are those that exist."""
    return given(x) if isinstance(x, np.dtype) else x


def paired(got: Any, wanted: Any, moved: Iterator[float]) -> Iterator[tuple[Any, Any, float]]:
    """The leaves of two results of one structure, where an array of ours may stand for tuples of numbers."""
    if isinstance(wanted, dict):
        assert isinstance(got, dict) and got.keys() == wanted.keys(), f"{got} for {wanted}"
        got, wanted = list(got.values()), [*wanted.values()]
    if not isinstance(wanted, (tuple, list)):
        yield got, wanted, next(moved) if isinstance(wanted, np.ndarray) else 0.0
    elif isinstance(got, (tuple, list)):
        assert len(got) == len(wanted), f"{len(got)} results, {len(wanted)} are wanted"
        for x, y in zip(got, wanted, strict=True):
            yield from paired(x, y, moved)
    else:
        offs = [next(moved) for v in leaves(wanted) if isinstance(v, np.ndarray)]
        yield got, np.array(wanted), max(offs, default=0.0)


def compare(got: Any, wanted: Any, moved: list[float], floor: float = 0.0) -> None:
    """got and wanted have the same structure, shapes and, within tolerance, values."""
    for one, other, off in paired(got, wanted, iter(moved)):
        if other is None or isinstance(other, (str, slice)):
            assert one == other
            continue
        x, y = np.asarray(one), np.asarray(other)
        assert x.shape == y.shape, f"shape {x.shape}, wanted {y.shape}"
        if not y.size:
            continue
        kinds = x.dtype.kind, y.dtype.kind
        assert (
            kinds[0] == kinds[1] or set(kinds) <= {"i", "u"} or kinds in {("c", "f"), ("f", "i"), ("f", "u")}
        ), f"dtype {x.dtype}, wanted {y.dtype}"
        if y.dtype.kind in "biu" and x.dtype.kind in "biu":
            assert (x == y).all(), (
                f"{int((x != y).sum())} of {x.size} integers differ: {x.flat[0]} {y.flat[0]}"
            )
            continue
        x, y = x.astype("complex128"), y.astype("complex128")
        fine = np.isfinite(y)
        top = np.abs(y[fine]).max(initial=0)
        if off > ILL * top + 1e-30 or not np.isfinite(off):
            raise Out("ill-conditioned in float32")
        beyond = ~fine | (np.abs(y) > 3e38)
        assert (np.isfinite(x) | beyond).all(), "NaN or infinity where numbers are wanted"
        assert (np.isnan(x) == np.isnan(y))[~fine].all(), "numbers where NaN is wanted"
        far = np.abs(x - y)[fine & ~beyond].max(initial=0)
        limit = (2e-3 if np.asarray(one).dtype == "float16" else TOLERANCE) * top + 8 * off + 1e-37 + floor
        assert far <= limit, f"off by {far:.3g} of {top:.3g}, {limit:.3g} is allowed"


def array_of(x: Any) -> np.ndarray:
    x = np.asarray(x)
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


def turned(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def near(got: np.ndarray, wanted: np.ndarray, what: str) -> None:
    got, wanted = array_of(got), array_of(wanted)
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, wanted {wanted.shape}"
    size = max(np.abs(wanted).max(initial=0), 1e-30)
    far = np.abs(got - wanted).max(initial=0)
    n = max(wanted.shape[-1] if wanted.ndim else 1, 4)
    assert far <= TOLERANCE * size * n**0.5, f"{what}: off by {far:.3g} of {size:.3g}"


def orthonormal(q: np.ndarray, what: str) -> None:
    q = array_of(q)
    eye = np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1]))
    near(turned(q) @ q + 1, eye + 1, what)


def check_qr(call: dict[str, Any], got: Any) -> None:
    a = array_of(call["args"][0])
    if not isinstance(got, tuple) or len(got) != 2 or call["kwargs"].get("mode") in ("raw", "r"):
        got, wanted = (np.abs(leaves(x)[-1]) for x in (got, call["wanted"]))
        near(got, wanted, "|r|")
        return
    orthonormal(got[0], "q")
    near(array_of(got[0]) @ array_of(got[1]), a, "q r")
    assert not np.tril(got[1], -1).any()


def check_svd(call: dict[str, Any], got: Any) -> None:
    a = array_of(call["args"][0])
    if not isinstance(got, tuple):
        near(got, call["wanted"], "singular values")
        return
    u, s, vh = (array_of(x) for x in got)
    near(s, call["wanted"][1], "singular values")
    orthonormal(u, "u")
    orthonormal(turned(vh), "v")
    k = s.shape[-1]
    near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, "u s vh")


def check_eigh(call: dict[str, Any], got: Any) -> None:
    if len(call["args"]) > 1 and call["args"][1] is not None and not isinstance(call["args"][1], str):
        raise Out("the generalised problem")
    if not isinstance(got, tuple):
        near(got, call["wanted"], "eigenvalues")
        return
    a = array_of(call["args"][0])
    side = [
        *call["args"][1:2],
        call["kwargs"].get("UPLO", "U" if call["kwargs"].get("lower") is False else "L"),
    ][0]
    upper = str(side).upper() == "U"
    low = np.triu(a) if upper else np.tril(a)
    full = low + turned(low) - np.einsum("...ij,ij->...ij", low, np.eye(a.shape[-1])).real
    near(got[0], call["wanted"][0], "eigenvalues")
    orthonormal(got[1], "vectors")
    v = array_of(got[1])
    by = np.abs(a).max(initial=0)
    near(v * array_of(got[0])[..., None, :] + by, full @ v + by, "a v")


def pairs(got: np.ndarray, wanted: np.ndarray) -> float:
    left, worst = list(wanted), 0.0
    for x in got:
        k = int(np.argmin(np.abs(np.array(left) - x)))
        worst = max(worst, abs(left.pop(k) - x))
    return worst


def check_eig(call: dict[str, Any], got: Any) -> None:
    a = array_of(call["args"][0])
    w = np.asarray(leaves(got)[0]).astype("complex128")
    wanted = np.asarray(leaves(call["wanted"])[0]).astype("complex128")
    n = w.shape[-1]
    size = max(np.abs(a).max(initial=0), 1e-30) * max(n, 4)
    off = max(call["moved"][0], 3e-6 * size) if call["moved"] else 0
    for one, other in zip(w.reshape(-1, n), wanted.reshape(-1, n), strict=True) if n else ():
        if off < ILL * size:
            assert pairs(one, other) <= 10 * off, f"{one} are not {other}"
    vectors = leaves(got)[1:]
    if len(vectors) == 1 and not call["kwargs"].get("left"):
        v = array_of(vectors[0])
        assert np.abs(a @ v - v * w[..., None, :]).max(initial=0) <= TOLERANCE * size, "a v is not w v"


def check_lstsq(call: dict[str, Any], got: Any) -> None:
    compare(got[0], call["wanted"][0], call["moved"][:1])


def check_similar(call: dict[str, Any], got: Any) -> None:
    """schur and hessenberg with their bases, or the sizes of the latter's elements."""
    a = array_of(call["args"][0])
    if isinstance(got, tuple):
        middle, q = (array_of(x) for x in got)
        orthonormal(q, "q")
        near(q @ middle @ turned(q), a, "q t q*")
    else:
        near(np.abs(np.diagonal(got)), np.abs(np.diagonal(call["wanted"])), "diagonal")


def check_span(call: dict[str, Any], got: Any) -> None:
    q, wanted = array_of(got), array_of(call["wanted"])
    assert q.shape == wanted.shape, f"shape {q.shape}, wanted {wanted.shape}"
    near(q @ turned(q), wanted @ turned(wanted), "projector")


def check_sqrtm(call: dict[str, Any], got: Any) -> None:
    """Of negative eigenvalues either root may be taken."""
    x = array_of(got)
    far = np.abs(x @ x - array_of(call["args"][0])).max(initial=0)
    size = (np.linalg.norm(x, axis=(-2, -1)) ** 2).max(initial=0)
    assert far <= TOLERANCE * size, f"x x: off by {far:.3g} of {size:.3g}"


def check_procrustes(call: dict[str, Any], got: Any) -> None:
    """Without full rank several matrices are nearest."""
    a, b = (array_of(x) for x in call["args"][:2])
    r, scale = got
    orthonormal(r, "r")
    near(scale, call["wanted"][1], "scale")
    ours, theirs = (np.linalg.norm(a @ array_of(x) - b) for x in (r, call["wanted"][0]))
    assert ours <= theirs + 1e-5 * (np.linalg.norm(a) + np.linalg.norm(b)), (
        f"{ours:.3g} away, {theirs:.3g} is possible"
    )


def check_cho_factor(call: dict[str, Any], got: Any) -> None:
    part = np.tril if got[1] else np.triu
    compare(part(got[0]), part(call["wanted"][0]), call["moved"][:1])


def check_distances(call: dict[str, Any], got: Any) -> None:
    """Of equally near elements any may be named: what counts is how far it is."""
    shape = np.shape(call["args"][0])
    for x, y in zip(leaves(got), leaves(call["wanted"]), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        if y.shape == (len(shape), *shape):
            here = np.indices(shape)
            metric = call["kwargs"].get(
                "metric", (call["args"] + ["euclidean"])[1 if len(call["args"]) > 1 else -1]
            )
            order = {"chessboard": np.inf, "cityblock": 1, "taxicab": 1, "manhattan": 1}.get(str(metric), 2)
            if call["name"].endswith("cdt") and order == 2:
                order = np.inf
            near(
                np.linalg.norm(x - here, order, axis=0), np.linalg.norm(y - here, order, axis=0), "distances"
            )
        else:
            near(x, y, "distances")


def check_loosely(call: dict[str, Any], got: Any) -> None:
    """Angles of hundreds of turns in float32; logarithms of long transforms."""
    compare(got, call["wanted"], call["moved"], 1e-4 * float(np.abs(call["wanted"]).max(initial=0)))


def check_detrend(call: dict[str, Any], got: Any) -> None:
    compare(got, call["wanted"], call["moved"], 2e-6 * float(np.abs(call["args"][0]).max(initial=0)))


CHECKS = {
    "linalg.qr": check_qr, "linalg.svd": check_svd, "linalg.eigh": check_eigh, "linalg.eig": check_eig,
    "linalg.eigvals": check_eig, "linalg.eigvalsh": check_eigh, "linalg.lstsq": check_lstsq,
    "linalg.schur": check_similar, "linalg.hessenberg": check_similar, "linalg.null_space": check_span,
    "linalg.sqrtm": check_sqrtm, "linalg.orth": check_span, "linalg.orthogonal_procrustes": check_procrustes,
    "linalg.cho_factor": check_cho_factor, "signal.detrend": check_detrend,
    "signal.lombscargle": check_loosely, "signal.minimum_phase": check_loosely,
    "image.distance_transform_bf": check_distances, "image.distance_transform_cdt": check_distances,
    "image.distance_transform_edt": check_distances,
}  # fmt: skip


async def replay(call: dict[str, Any]) -> None:
    """Makes one call. Out, or an AssertionError or what our function raises."""
    if "out" in call:
        raise Out(call["out"])
    target = function(call["module"], call["name"])
    if target is None:
        raise Out("not there")
    first: Exception | None = None
    for args, kwargs in arguments(call, target):
        if (
            call["module"] == "scipy.linalg" and call["name"] == "cholesky"
        ):  # NumPy's default is the lower factor
            kwargs = {"upper": not kwargs.get("lower", args[1] if len(args) > 1 else False)}
            args = args[:1]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = await values(target(*args, **kwargs))
            break
        except NotImplementedError as why:
            raise Out(f"not there: {why}") from None
        except TypeError as why:
            first = first or why
    else:
        assert first is not None
        raise first
    check = CHECKS.get(f"{HOMES[call['module']]}.{call['name']}")
    if check is not None:
        check(call, got)
    else:
        compare(got, call["wanted"], call["moved"])


def split(name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A few of a function's calls, spread over all, and the others; what is out goes with the first."""
    ready = [c for c in CALLS[name] if "out" not in c]
    chosen = {k * len(ready) // FEW for k in range(FEW)} if len(ready) > FEW else set(range(len(ready)))
    few = [c for c in CALLS[name] if "out" in c] + [c for k, c in enumerate(ready) if k in chosen]
    return few, [c for k, c in enumerate(ready) if k not in chosen]


async def run(name: str, calls: list[dict[str, Any]], record: Any) -> None:
    done, out, wrong = 0, Counter[str](), []
    for call in calls:
        try:
            await replay(call)
            done += 1
        except Out as why:
            out[str(why)] += 1
        except Exception as why:
            reason = known(call, why)
            if reason:
                out[reason] += 1
            else:
                wrong.append(f"{describe(call)}: {type(why).__name__}: {str(why).partition(chr(10))[0]}")
    record("calls", [name, done, dict(out), len(wrong)])  # for the summary in conftest.py, from workers too
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong[:12])


@pytest.mark.skipif(not RECORDS, reason="no recorded calls: ./build.sh sci makes them")
@pytest.mark.parametrize("name", sorted(CALLS))
async def test_some(name: str, record_property: Any) -> None:
    await run(name, split(name)[0], record_property)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name in CALLS if split(name)[1]))
async def test_others(name: str, record_property: Any) -> None:
    await run(name, split(name)[1], record_property)


def describe(call: dict[str, Any]) -> str:
    def short(x: Any) -> str:
        if isinstance(x, np.ndarray):
            return f"{x.dtype}{x.shape}"
        if isinstance(x, (list, tuple)):
            return f"({', '.join(short(v) for v in x[:6])}{', ..' if len(x) > 6 else ''})"
        return repr(x)[:60]

    parts = [short(x) for x in call["args"]] + [f"{k}={short(v)}" for k, v in call["kwargs"].items()]
    return ", ".join(parts)


# function -> (what the error says, why it is so): differences that docs/differences.md or DECISIONS name
WRAPS = "beyond the dtype: SciPy's casts wrap, ours saturate (DECISIONS)"
KNOWN: dict[str, list[tuple[str, str]]] = {
    "": [
        ("no common 32-bit type", "dtypes that only 64 bits hold together"),
        ("is no int32", "integers beyond 32 bits"),
    ],
    "linalg.norm": [("infinity where numbers", "squares beyond float32: inf, as NumPy's of float32")],
    "linalg.eigh": [("UPLO is 'L' or 'U', not array", "not there: the generalised problem")],
    "linalg.lu": [
        (r"0\).*AssertionError: shape", "no columns: SciPy gives no permutation, ours the identity")
    ],
    "linalg.null_space": [("rcond=1e-06", "a cut at the precision of float32")],
    "linalg.sqrtm": [
        ("off by nan of nan", "no square root: SciPy gives infinities among NaN, ours is all NaN")
    ],
    "linalg.orth": [("rcond=1e-06", "a cut at the precision of float32")],
    "linalg.qr": [
        ("goes without pivoting|0.*mode='raw'", "not there: mode='raw' with pivoting, or of no elements")
    ],
    "linalg.solve": [(r"shape is \(\)", "a number for a matrix")],
    "image.prewitt": [("^uint.* integers differ", WRAPS)],
    "image.sobel": [("^uint.* integers differ", WRAPS)],
    "image.white_tophat": [("structure's heights go with numbers", "heights with bool")],
    "image.black_tophat": [("structure's heights go with numbers", "heights with bool")],
    "image.binary_propagation": [
        ("iterations below 1 go with no origin", "an origin with iterations below 1")
    ],
    "image.binary_erosion": [("AxisError: permute_dims", "0-d images")],
    "image.binary_dilation": [("AxisError: permute_dims", "0-d images")],
    "image.minimum_filter": [("axis must be an integer", "axes in an array")],
    "image.maximum_filter": [("axis must be an integer", "axes in an array")],
    "signal.correlate": [("^u?int.* integers differ", WRAPS)],
    "signal.convolve": [("^u?int.* integers differ", WRAPS)],
    "signal.deconvolve": [(r"divisor\[0\] not 0", "a divisor that begins with 0")],
    "signal.filtfilt": [
        ("only 'pad' is there", "not there: method='gust'"),
        ("numbers of the host", "complex coefficients of a recursion"),
    ],
    "signal.residuez": [
        ("off by", "SciPy's own function on the host: poles in another order with another LAPACK")
    ],
    "signal.resample_poly": [("upfirdn: mode 'anti", "not there: modes antisymmetric, antireflect")],
    "signal.upfirdn": [("upfirdn: mode 'anti", "not there: modes antisymmetric, antireflect")],
}


def known(call: dict[str, Any], why: Exception) -> str:
    """The reason why a call is out after all, or an empty string."""
    said = f"{describe(call)}: {type(why).__name__}: {why}"
    for pattern, reason in KNOWN.get(f"{HOMES[call['module']]}.{call['name']}", []) + KNOWN[""]:
        if re.search(pattern, said):
            return reason
    return ""
