"""SciPy's other functions for arrays of any library: clusters, integrals, roots, derivatives, windows, filters.

Tolerance: 2e-5 (same.TOL) unless a test says another. cluster.vq, signal and ndimage compute on the host and give GPU
arrays back: SciPy converts.
"""

from __future__ import annotations

import numpy as np
import pytest
from data import OTHER, POSITIVE, REAL, RNG, UNIT
from same import same
from scipy import constants, differentiate, integrate, ndimage, optimize, signal
from scipy.cluster import vq
from scipy.optimize import elementwise
from scipy.signal import windows
from scipy.spatial.transform import Rotation

import tabgpu as tg

POINTS = (RNG.standard_normal((40, 3)) + 5 * RNG.integers(0, 3, (40, 1))).astype(np.float32)
IMAGE = RNG.random((12, 10)).astype(np.float32)


def test_vq() -> None:
    same(vq.whiten, POINTS)
    same(vq.vq, POINTS, POINTS[:3].copy())
    same(lambda a: vq.kmeans(a, a[:3, :]), POINTS)
    same(lambda a: vq.kmeans2(a, a[:3, :], minit="matrix"), POINTS)
    same(lambda a: vq.kmeans2(a, 3, minit="++", rng=1), POINTS)


def test_integrals() -> None:
    same(integrate.trapezoid, REAL)
    same(integrate.cumulative_trapezoid, REAL)
    same(integrate.cumulative_simpson, REAL, tol=1e-4)
    same(integrate.romb, REAL[:17].copy())

    def of_a_function(a, b):
        found = integrate.tanhsinh(lambda x: x.__array_namespace__().exp(-x * x), a, b)
        return [found.integral, found.success]

    same(of_a_function, np.array([0, 0.5], np.float32), np.array([1, 2], np.float32))


def test_roots_and_minima() -> None:
    def root(a, b):
        found = elementwise.find_root(lambda x: x**3 - 2, (a, b))
        return [found.x, found.success]

    same(root, np.array([0, 1], np.float32), np.array([2, 3], np.float32))
    brackets = [np.array(v, np.float32) for v in ([-3, -2], [0.5, 0], [2, 3])]
    # A minimum is known to the root of the precision of its value.
    same(lambda *v: elementwise.find_minimum(lambda x: (x - 1) ** 2, v).x, *brackets, tol=1e-2)
    same(optimize.rosen, REAL, tol=1e-4)
    same(optimize.rosen_der, REAL, tol=1e-4)


def test_derivatives() -> None:
    same(lambda a: differentiate.derivative(lambda x: x.__array_namespace__().exp(x), a).df, UNIT, tol=1e-3)


@pytest.mark.parametrize("name", ["hann", "blackman", "cosine", "kaiser", "gaussian", "tukey"])
def test_windows(name: str) -> None:
    options = {"kaiser": (5.0,), "gaussian": (3.0,)}.get(name, ())
    window = getattr(windows, name)
    got = window(9, *options, xp=tg)
    assert isinstance(got, tg.Array)
    np.testing.assert_allclose(np.asarray(got), window(9, *options), rtol=2e-5, atol=2e-5)


def test_filters() -> None:
    same(signal.fftconvolve, REAL, POSITIVE, tol=1e-4)
    same(lambda a, b: signal.convolve(a, b, method="direct"), REAL, OTHER, tol=1e-4)
    same(signal.detrend, REAL, tol=1e-4)
    b, a = np.array([1, 0.5], np.float32), np.array([1, -0.2], np.float32)
    same(signal.lfilter, b, a, REAL, tol=1e-4)
    for name in ("gaussian_filter", "uniform_filter", "median_filter"):
        same(lambda a, name=name: getattr(ndimage, name)(a, 3), IMAGE, tol=1e-4)
    same(ndimage.sobel, IMAGE, tol=1e-4)


def test_rotations_and_constants() -> None:
    same(
        lambda q: Rotation.from_quat(q).as_matrix(), RNG.standard_normal((3, 4)).astype(np.float32), tol=1e-4
    )
    vectors = RNG.standard_normal((3, 3)).astype(np.float32)
    same(lambda v: Rotation.from_rotvec(v).apply(v[::-1, ...]), vectors, tol=1e-4)
    same(lambda v: constants.convert_temperature(v, "C", "K"), REAL)
