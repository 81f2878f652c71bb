"""tg.fft beside scipy.fft in float64 on the native host: cosine and sine transforms, every name, random cases.

The bound is 4 eps log2 n in relative L2.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.fft
from hypothesis import given, settings
from hypothesis import strategies as st

import tabgpu as tg
from tabgpu import engine

EPS = float(np.finfo(np.float32).eps)
LEFT_OUT = {
    "fht": "the logarithmic Hankel transform is host coefficients around rfft and irfft: call those",
    "ifht": "as fht",
    "fhtoffset": "as fht",
    "set_backend": "tabgpu is no backend of scipy.fft's uarray; scipy.fft takes our arrays by SCIPY_ARRAY_API",
    "set_global_backend": "as set_backend",
    "skip_backend": "as set_backend",
    "register_backend": "as set_backend",
    "get_workers": "a GPU has no worker threads to number",
    "set_workers": "as get_workers",
}


def test_every_public_name_is_here_or_left_out_for_a_reason() -> None:
    names = set(scipy.fft.__all__) | {n for n in dir(np.fft) if not n.startswith("_") and n != "test"}
    assert names - set(tg.fft.__all__) == set(LEFT_OUT)
    assert set(tg.fft.__all__) <= names
    assert all(callable(getattr(tg.fft, n)) for n in tg.fft.__all__)


@pytest.fixture(params=["own", "other"])
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """Passes from storage to storage, and those in workgroup memory."""
    np.asarray(tg.ones(1))
    gpu = engine.device()
    facts, programs = engine.facts_of(gpu), gpu.programs
    if request.param == "other":
        gpu.facts, gpu.programs = replace(facts, software=not facts.software), None
    yield request.param
    gpu.facts, gpu.programs = facts, programs


def close(got: Any, want: Any, n: int, label: Any = "") -> None:
    got = np.asarray(got)
    assert got.shape == want.shape, f"{label}: {got.shape}, SciPy {want.shape}"
    assert got.dtype == (np.complex64 if want.dtype.kind == "c" else np.float32), f"{label}: {got.dtype}"
    size = np.linalg.norm(want.ravel()) or 1.0
    error = np.linalg.norm((got - want).ravel()) / size
    assert error <= 4 * EPS * max(1.0, np.log2(n)), f"{label}: {error:.3g} relative, n = {n}"


def draw(*shape: int) -> Any:
    return np.random.default_rng([*shape]).normal(size=shape).astype(np.float32)


COSINES = ("dct", "idct", "dst", "idst")


SLOW = [pytest.param(n, marks=pytest.mark.slow) for n in (4, 7, 9, 16, 32, 34, 99, 100)]


@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, *SLOW])
def test_cosines_and_sines_of_every_type(form: str, n: int) -> None:
    """Types 1 to 4, every norm, orthogonalize or not; type 1 needs two positions."""
    x = draw(2, n)
    for name in COSINES:
        for kind in (1, 2, 3, 4):
            if n == 1 and kind == 1 and name.endswith("dct"):
                with pytest.raises(ValueError):
                    getattr(tg.fft, name)(tg.asarray(x), kind)
                continue
            for norm in (None, "backward", "ortho", "forward"):
                for unit in (None, True, False):
                    options = {"norm": norm, "orthogonalize": unit}
                    want = getattr(scipy.fft, name)(x.astype(np.float64), kind, **options)
                    close(
                        getattr(tg.fft, name)(tg.asarray(x), kind, **options), want, n, (name, kind, options)
                    )


def test_cosines_pad_crop_and_take_any_axis(form: str) -> None:
    x = draw(3, 10, 4)
    views = (
        (x, tg.asarray(x)),
        (x.T, tg.asarray(x).T),
        (x[::-1, ::2, 1:], tg.asarray(x)[::-1, ::2, 1:]),
        (x.astype(np.int32), tg.asarray(x.astype(np.int32))),
    )
    for name in COSINES:
        for kind in (1, 2, 3, 4):
            for axis in (0, 1, -1):
                for n in (None, 5, 12):
                    for host, g in views:
                        want = getattr(scipy.fft, name)(host.astype(np.float64), kind, n, axis)
                        close(getattr(tg.fft, name)(g, kind, n, axis), want, 12, (name, kind, n, axis))


def test_cosines_of_complex_numbers_and_of_several_axes() -> None:
    x = draw(4, 6, 5)
    z = (x + 1j * draw(4, 6, 5)[::-1]).astype(np.complex64)
    for name in COSINES:
        for kind in (1, 2, 3, 4):
            want = getattr(scipy.fft, name)(z.astype(np.complex128), kind)
            close(getattr(tg.fft, name)(tg.asarray(z), kind), want, 10, (name, kind))
            for options in (
                {},
                {"axes": (0, 2)},
                {"s": (3, 8), "axes": (2, 1)},
                {"s": (4, 4)},
                {"norm": "ortho"},
            ):
                want = getattr(scipy.fft, name + "n")(x.astype(np.float64), kind, **options)
                close(
                    getattr(tg.fft, name + "n")(tg.asarray(x), kind, **options),
                    want,
                    120,
                    (name, kind, options),
                )
        with pytest.raises(ValueError, match="repeat"):
            getattr(tg.fft, name + "n")(tg.asarray(x), axes=(0, 0))
        with pytest.raises(ValueError, match="type"):
            getattr(tg.fft, name)(tg.asarray(x), 5)
        with pytest.raises(ValueError, match="norm"):
            getattr(tg.fft, name)(tg.asarray(x), norm="all")
        with pytest.raises(ValueError, match="points"):
            getattr(tg.fft, name)(tg.asarray(x), 2, 0)


def test_hermitian_transforms_of_several_axes(form: str) -> None:
    x = draw(4, 6, 5)
    z = (x + 1j * x[::-1]).astype(np.complex64)
    for options in (
        {},
        {"axes": (0, 1)},
        {"s": (3, 8), "axes": (2, 1)},
        {"norm": "ortho"},
        {"norm": "forward"},
    ):
        for name in ("hfftn", "hfft2", "ihfftn", "ihfft2"):
            host = x if name[0] == "i" else z
            wide = host.astype(np.complex128 if host.dtype.kind == "c" else np.float64)
            if name.endswith("2") and "axes" in options and len(options["axes"]) != 2:  # type: ignore[arg-type]
                continue
            close(
                getattr(tg.fft, name)(tg.asarray(host), **options),
                getattr(scipy.fft, name)(wide, **options),
                120,
            )


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_random_calls(data: st.DataObject) -> None:
    """Any function, shape, axis, length and view."""
    name = data.draw(st.sampled_from(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", *COSINES]))
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    step = data.draw(st.sampled_from([1, 2, -1]))
    n = data.draw(st.integers(1, 80))
    x = draw(*shape)
    if name in ("fft", "ifft", "irfft", "hfft") and data.draw(st.booleans()):
        x = (x + 1j * draw(*shape, 1)[..., 0][..., ::-1]).astype(np.complex64)
    host, g = x[::step], tg.asarray(x)[::step]
    options: dict[str, Any] = {
        "axis": axis,
        "n": n,
        "norm": data.draw(st.sampled_from([None, "ortho", "forward"])),
    }
    if name in COSINES:
        options["type"] = data.draw(st.integers(2, 4))
    wide = host.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    close(
        getattr(tg.fft, name)(g, **options),
        getattr(scipy.fft, name)(wide, **options),
        n,
        (name, shape, options),
    )


def test_lengths_of_several_passes_of_mixed_radices(form: str) -> None:
    """Products of small primes that one workgroup does not hold, with little memory; convolutions beside them."""
    gpu = engine.device()
    facts = engine.facts_of(gpu)
    gpu.facts = replace(facts, limits={**facts.limits, "maxComputeWorkgroupStorageSize": 2048})
    gpu.programs = None
    for n in (360, 3003):
        z = (draw(2, n) + 1j * draw(n, 2).T).astype(np.complex64)
        wide = z.astype(np.complex128)
        close(tg.fft.fft(tg.asarray(z)), np.fft.fft(wide), n, n)
        close(tg.fft.ifft(tg.asarray(z.T.copy()), axis=0), np.fft.ifft(wide.T, axis=0), n, n)
        close(tg.fft.rfft(tg.asarray(z.real.copy())), np.fft.rfft(wide.real), n, n)
        close(tg.fft.dct(tg.asarray(z.real.copy())), scipy.fft.dct(wide.real), n, n)


def test_scipys_own_functions_take_our_arrays() -> None:
    """scipy.fft under SCIPY_ARRAY_API calls tg.fft: in a process of its own, since SciPy asks once."""
    import subprocess

    code = (
        "import numpy as np, scipy.fft, tabgpu as tg\n"
        "x = np.arange(24.0, dtype='f4').reshape(4, 6)\n"
        "for f in ('fft', 'rfft', 'fft2', 'rfftn', 'ihfft'):\n"
        "    g = getattr(scipy.fft, f)(tg.asarray(x))\n"
        "    assert isinstance(g, tg.Array), type(g)\n"
        "    assert np.allclose(np.asarray(g), getattr(np.fft, f)(x), atol=1e-4)\n"
        "assert isinstance(scipy.fft.fftshift(tg.asarray(x)), tg.Array)\n"
        "from scipy import signal\n"
        "calls = scipy.fft.dct, signal.hilbert, lambda a: signal.resample(a, 9), lambda a: signal.fftconvolve(a, a)\n"
        "for f in calls:\n"
        "    assert isinstance(f(tg.asarray(x)), tg.Array)\n"
        "    assert np.allclose(np.asarray(f(tg.asarray(x))), f(x), rtol=1e-4, atol=1e-3)\n"
        "print('fine')\n"
    )
    package = str(Path(tg.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**__import__("os").environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": package},
    )
    assert done.stdout.strip() == "fine", done.stderr
