"""SciPy's and NumPy's own calls of linalg, fft, ndimage and signal, made again with tabgpu's arrays; a test a function.

RECORDED names the file that record.py wrote (`./build.sh sci` makes it). A result may be off by TOLERANCE of its
greatest element and by what moving the inputs by four units of float32 moves it. What is out is counted by reason, and
printed at the end with what ran.
"""

from __future__ import annotations

import inspect
import os
import pickle
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

TOLERANCE = 2e-5
ILL = 0.01  # of the greatest element: what moves more than this is no test of float32
HOMES = {
    "scipy.linalg": "linalg", "numpy.linalg": "linalg", "scipy.fft": "fft", "numpy.fft": "fft",
    "scipy.ndimage": "image", "scipy.signal": "signal", "scipy.signal.windows": "signal.windows",
}  # fmt: skip
# Arguments that say how and not what
HOW = set(
    "overwrite_a overwrite_b overwrite_x overwrite_ab overwrite_c check_finite lapack_driver workers driver lwork xp".split()
)

path = os.environ.get("RECORDED", ".cache/recorded-calls.pickle")
RECORDS = pickle.loads(Path(path).read_bytes()) if Path(path).is_file() else []
CALLS: dict[str, list[dict[str, Any]]] = defaultdict(list)
for record in RECORDS:
    CALLS[f"{record['module']}.{record['name']}"].append(record)
RUN: Counter[str] = Counter()
OUT: dict[str, Counter[str]] = defaultdict(Counter)
FAILED: Counter[str] = Counter()


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


def arguments(call: dict[str, Any], target: Any) -> tuple[list[Any], dict[str, Any]]:
    """The call's arguments for our function; Out if it has no such argument."""
    kwargs = {k: v for k, v in call["kwargs"].items() if k not in HOW}
    try:
        inspect.signature(target).bind(*call["args"], **kwargs)
    except TypeError as why:
        raise Out(f"arguments: {why}") from None
    except ValueError:
        pass
    return [given(v) for v in call["args"]], {k: given(v) for k, v in kwargs.items()}


def compare(got: Any, wanted: Any, moved: list[float]) -> None:
    """got and wanted have the same structure, shapes and, within tolerance, values."""
    a, b = leaves(got), leaves(wanted)
    assert len(a) == len(b), f"{len(a)} results, {len(b)} are wanted"
    offs = iter(moved)
    for one, other in zip(a, b, strict=True):
        off = next(offs) if isinstance(other, np.ndarray) else 0.0
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
            assert (x == y).all(), f"{x} is not {y}"
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
        limit = (2e-3 if np.asarray(one).dtype == "float16" else TOLERANCE) * top + 4 * off + 1e-37
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


CHECKS = {
    "linalg.qr": check_qr, "linalg.svd": check_svd, "linalg.eigh": check_eigh, "linalg.eig": check_eig,
    "linalg.eigvals": check_eig, "linalg.eigvalsh": check_eigh, "linalg.lstsq": check_lstsq,
}  # fmt: skip


async def replay(call: dict[str, Any]) -> None:
    """Makes one call. Out, or an AssertionError or what our function raises."""
    if "out" in call:
        raise Out(call["out"])
    target = function(call["module"], call["name"])
    if target is None:
        raise Out("not there")
    args, kwargs = arguments(call, target)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = await values(target(*args, **kwargs))
    except NotImplementedError as why:
        raise Out(f"not there: {why}") from None
    check = CHECKS.get(f"{HOMES[call['module']]}.{call['name']}")
    if check is not None:
        check(call, got)
    else:
        compare(got, call["wanted"], call["moved"])


@pytest.mark.skipif(not RECORDS, reason="no recorded calls: ./build.sh sci makes them")
@pytest.mark.parametrize("name", sorted(CALLS))
async def test_recorded(name: str) -> None:
    wrong = []
    for k, call in enumerate(CALLS[name]):
        try:
            await replay(call)
            RUN[name] += 1
        except Out as why:
            OUT[name][str(why)] += 1
        except Exception as why:
            reason = known(name, call, why)
            if reason:
                OUT[name][reason] += 1
                continue
            FAILED[name] += 1
            wrong.append(f"call {k}: {describe(call)}: {type(why).__name__}: {why}")
    assert not wrong, f"{len(wrong)} of {len(CALLS[name])} calls:\n" + "\n".join(wrong[:12])


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
KNOWN: dict[str, list[tuple[str, str]]] = {
    "linalg.norm": [("infinity where numbers", "squares beyond float32: inf, as NumPy's of float32")],
    "linalg.solve": [("shape is ()", "a number for a matrix")],
}


def known(name: str, call: dict[str, Any], why: Exception) -> str:
    """The reason why a call is out after all, or an empty string."""
    for text, reason in KNOWN.get(f"{HOMES[call['module']]}.{call['name']}", []) + KNOWN.get("", []):
        if text in f"{type(why).__name__}: {why}":
            return reason
    return ""
