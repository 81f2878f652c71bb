"""SciPy's and NumPy's own calls as plain data: `python record.py FILE` runs their tests and writes what they call.

While their tests run, the public functions of linalg, fft, ndimage and signal are wrapped. Of each outermost call with
arguments that can be written down, the arguments are rounded to what float32, complex64 and int32 hold, the function is
called again with those (in float64), and once more with inputs that are a little off, which tells how far its result
may be off in float32. A record is a dict: module, name, args, kwargs, wanted, moved (the greatest change of each array
of the result), or what kept the call out: `out`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import pickle
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

MODULES = (
    "scipy.linalg",
    "scipy.fft",
    "scipy.ndimage",
    "scipy.signal",
    "scipy.signal.windows",
    "numpy.linalg",
    "numpy.fft",
)
TESTS = """
scipy.linalg.tests.test_basic scipy.linalg.tests.test_decomp scipy.linalg.tests.test_decomp_cholesky
scipy.linalg.tests.test_decomp_lu scipy.linalg.tests.test_decomp_polar scipy.linalg.tests.test_matfuncs
scipy.linalg.tests.test_special_matrices scipy.linalg.tests.test_procrustes
scipy.linalg.tests.test_cythonized_array_utils
scipy.fft.tests.test_basic scipy.fft.tests.test_real_transforms scipy.fft.tests.test_helper
scipy.ndimage.tests.test_filters scipy.ndimage.tests.test_interpolation scipy.ndimage.tests.test_morphology
scipy.ndimage.tests.test_measurements scipy.ndimage.tests.test_fourier
scipy.signal.tests.test_signaltools scipy.signal.tests.test_windows scipy.signal.tests.test_spectral
scipy.signal.tests.test_savitzky_golay scipy.signal.tests.test_upfirdn scipy.signal.tests.test_peak_finding
scipy.signal.tests.test_fir_filter_design scipy.signal.tests.test_waveforms
numpy.linalg.tests.test_linalg numpy.fft.tests.test_pocketfft numpy.fft.tests.test_helper
""".split()
# In names of tests
SKIP = (
    "slow or round_trip or random_matrices or crash or hypothesis or thread or memory or big or pickle or large "
    "or timing or fuzz or race"
)
FORMS = 12  # parametrisations of a test
MOST = 60  # calls kept of a function
SIZE = 1 << 14  # elements of all arrays of a call, at most
BY_EPS = {"matrix_rank", "null_space", "orth", "pinv", "pinvh"}  # what the dtype's precision decides
NARROW = {"f": np.float32, "c": np.complex64, "i": np.int32, "u": np.uint32}
OFF = 2.0**-21  # how far inputs are moved, four units of float32


class Unfit(Exception):
    """Why a call is not written down."""


def narrowed(x: Any) -> Any:
    """An argument with all its arrays and numbers as narrow as tabgpu's; Unfit for what is no plain data."""
    if x is None or isinstance(x, (bool, str, int, np.bool_)):
        return x
    if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
        return np.dtype(x)
    if isinstance(x, (float, complex, np.generic)):
        return x.item() if isinstance(x, np.generic) else x
    if isinstance(x, (list, tuple)):
        return type(x)(narrowed(v) for v in x) if type(x) in (list, tuple) else tuple(narrowed(v) for v in x)
    if isinstance(x, dict):
        return {k: narrowed(v) for k, v in x.items()}
    if isinstance(x, slice):
        return x
    if type(x) is not np.ndarray:
        raise Unfit(f"an argument is a {type(x).__name__}")
    if x.dtype.kind == "b" or (x.dtype.itemsize < 4 and x.dtype.kind in "iu"):
        return x.copy()
    if x.dtype.kind not in NARROW:
        raise Unfit(f"an argument has dtype {x.dtype}")
    if x.dtype.name in ("float16", "float32", "complex64", "int32", "uint32"):
        return x.copy() if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))
    to = np.dtype(NARROW[x.dtype.kind])
    with np.errstate(all="ignore"):
        new = x.astype(to)
        if to.kind in "iu" and not (new == x).all():
            raise Unfit("integers beyond 32 bits")
        if to.kind in "fc" and (np.isfinite(x) != np.isfinite(new)).any():
            raise Unfit("numbers beyond float32")
    return new


def widened(x: Any, off: np.random.Generator | None = None) -> Any:
    """A narrowed argument in 64 bits, as the oracle is to have it; with `off` its floats are moved a little."""
    if type(x) in (list, tuple):
        return type(x)(widened(v, off) for v in x)
    if isinstance(x, dict):
        return {k: widened(v, off) for k, v in x.items()}
    if type(x) is np.ndarray and x.dtype.kind in "fc":
        wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        return wide if off is None else wide * (1 + OFF * off.uniform(-1, 1, x.shape))
    return x.copy() if type(x) is np.ndarray else x


def as_it_is(x: Any) -> Any:
    return x


def narrow_again(x: Any) -> Any:
    """Arrays of 64 bits in 32, for functions that ask for the precision of a dtype."""
    if type(x) in (list, tuple):
        return type(x)(narrow_again(v) for v in x)
    if isinstance(x, dict):
        return {k: narrow_again(v) for k, v in x.items()}
    return x.astype(NARROW[x.dtype.kind]) if type(x) is np.ndarray and x.dtype.kind in "fc" else x


def arrays(x: Any) -> list[np.ndarray]:
    """The arrays in a result or an argument."""
    if isinstance(x, (list, tuple)):
        return [a for v in x for a in arrays(v)]
    if isinstance(x, dict):
        return [a for v in x.values() for a in arrays(v)]
    return [x] if isinstance(x, np.ndarray) else []


def plain(x: Any) -> Any:
    """A result as arrays, numbers, tuples and dicts; Unfit for what is an object of SciPy's."""
    if isinstance(x, (tuple, list)):
        return tuple(plain(v) for v in x)
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, np.generic):
        return np.asarray(x)
    if isinstance(x, (np.ndarray, bool, int, float, complex, str, slice)) or x is None:
        return x
    raise Unfit(f"the result is a {type(x).__name__}")


class Recorder:
    """The wrapped functions and what they were called with."""

    def __init__(self) -> None:
        self.depth = 0
        self.seen: set[str] = set()
        self.kept: Counter[tuple[str, str]] = Counter()
        self.records: list[dict[str, Any]] = []

    def wrap(self, module: str, name: str, function: Any) -> Any:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            outer = self.depth == 0
            self.depth += 1
            try:
                before = self.prepared(module, name, args, kwargs) if outer else None
                result = function(*args, **kwargs)
                if before is not None:
                    self.keep(module, name, function, before)
                return result
            finally:
                self.depth -= 1

        return called

    def prepared(self, module: str, name: str, args: Any, kwargs: Any) -> Any:
        """The narrowed arguments, or None for what is not new; taken before the call, which may overwrite them."""
        try:
            if sum(a.size for a in arrays([args, kwargs])) > SIZE:
                raise Unfit(f"more than {SIZE} elements")
            given = narrowed((list(args), {k: v for k, v in kwargs.items() if k != "xp"}))
            key = hashlib.sha256(pickle.dumps((module, name, given))).hexdigest()
        except Unfit as why:
            self.leave_out(module, name, str(why))
            return None
        except Exception as why:
            self.leave_out(module, name, f"an argument of another kind ({type(why).__name__})")
            return None
        if key in self.seen or self.kept[module, name] >= MOST:
            return None
        self.seen.add(key)
        return given

    def keep(self, module: str, name: str, function: Any, given: Any) -> None:
        """Called when the real call succeeded."""
        back = narrow_again if name in BY_EPS else as_it_is
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                args, kwargs = back(widened(given))
                wanted = plain(function(*args, **kwargs))
                moved = [0.0] * len(arrays(wanted))
                for seed in range(2):
                    args, kwargs = back(widened(given, np.random.default_rng(seed)))
                    other = arrays(plain(function(*args, **kwargs)))
                    if [a.shape for a in other] != [a.shape for a in arrays(wanted)]:
                        raise Unfit("ill-conditioned: the shape of the result depends on rounding")
                    for k, (a, b) in enumerate(zip(arrays(wanted), other, strict=True)):
                        moved[k] = max(moved[k], change(a, b))
            if sum(a.size for a in arrays(wanted)) > 4 * SIZE:
                raise Unfit(f"a result of more than {4 * SIZE} elements")
            record = {"args": given[0], "kwargs": given[1], "wanted": wanted, "moved": moved}
            pickle.dumps(record)
        except Unfit as why:
            self.leave_out(module, name, str(why))
        except Exception as why:
            self.leave_out(module, name, f"fails for 32-bit inputs ({type(why).__name__})")
        else:
            self.kept[module, name] += 1
            self.records.append({"module": module, "name": name, **record})

    def leave_out(self, module: str, name: str, why: str) -> None:
        if (module, name, why) not in self.seen:
            self.seen.add((module, name, why))  # type: ignore[arg-type]
            self.records.append({"module": module, "name": name, "out": why})


class Sample:
    """A pytest plugin that runs some of the parametrisations of each test, spread over their list."""

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        of: dict[str, list[Any]] = {}
        for item in items:
            of.setdefault(item.nodeid.partition("[")[0], []).append(item)
        kept = {
            id(some[k * len(some) // FORMS] if len(some) > FORMS else some[k])
            for some in of.values()
            for k in range(min(FORMS, len(some)))
        }
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = [item for item in items if id(item) in kept]


def change(a: np.ndarray, b: np.ndarray) -> float:
    """The greatest difference of two arrays."""
    if not a.size or a.dtype.kind not in "fciu":
        return 0.0 if (a == b).all() else float("inf")
    with np.errstate(all="ignore"):
        far = np.abs(a.astype(np.complex128) - b.astype(np.complex128))
    if (np.isnan(a) != np.isnan(b)).any():
        return float("inf")
    return float(np.nanmax(np.where(a == b, 0, far), initial=0))


def collect(tests: list[str] = TESTS) -> list[dict[str, Any]]:
    """Runs the tests; their own verdicts do not matter here."""
    import pytest

    recorder = Recorder()
    table = getattr(importlib.import_module("scipy._lib._array_api"), "xp_capabilities_table", {})
    for module in MODULES:
        there = importlib.import_module(module)
        for name in getattr(there, "__all__", dir(there)):
            found = getattr(there, name, None)
            if callable(found) and not isinstance(found, type) and not name.startswith("_"):
                wrapped = recorder.wrap(module, name, found)
                setattr(there, name, wrapped)
                if found in table:
                    table[wrapped] = table[found]  # what SciPy's own decorators of tests look up
    options = [
        "-q",
        "-x",
        "--maxfail=100000",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--no-header",
        "-k",
    ]
    options += [f"not ({SKIP})", "--no-summary", "-o", "addopts=", "--capture=sys"]
    pytest.main([*options, "--durations=15", "--pyargs", *tests], plugins=[Sample()])
    return recorder.records


if __name__ == "__main__":
    began = time.monotonic()
    found = collect(sys.argv[2:] or TESTS)
    Path(sys.argv[1]).write_bytes(pickle.dumps(found))
    kept = sum("out" not in r for r in found)
    functions = len({(r["module"], r["name"]) for r in found})
    print(f"{kept} calls of {functions} functions in {time.monotonic() - began:.0f} s")
