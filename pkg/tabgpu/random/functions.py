"""Distributions as functions of a key, under jax.random's names: the first positions of a Generator over that key."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32, int32
from ..layout import as_shape, broadcast_shapes, normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.along import last
from ..ops.convert import from_host
from ..ops.creation import astype
from ..ops.manipulation import broadcast_to
from .applying import floating
from .draws import draw, quantile
from .generator import Generator
from .parameters import Parameters

CHUNK = (
    1 << 15
)  # steps of a path in one launch: what one thread does on Mesa's CPU driver, and in far below a second


def _cast(made: Array, dtype: Any, where: str) -> Array:
    return astype(made, floating(dtype, where), copy=False)


def exponential(key: Any, shape: Any = (), dtype: Any = float32) -> Array:
    """Exponential floats of scale 1, from 1.2e-10 to 22.9: -log of (w + 1/2) / 2**32 for a word w."""
    return Generator(key).standard_exponential(shape, dtype)


def laplace(key: Any, shape: Any = (), dtype: Any = float32) -> Array:
    """Laplace's distribution."""
    return _cast(Generator(key).laplace(size=shape), dtype, "laplace")


def logistic(key: Any, shape: Any = (), dtype: Any = float32) -> Array:
    """The logistic distribution."""
    return _cast(Generator(key).logistic(size=shape), dtype, "logistic")


def gumbel(key: Any, shape: Any = (), dtype: Any = float32) -> Array:
    """Gumbel's distribution of greatest values."""
    return _cast(Generator(key).gumbel(size=shape), dtype, "gumbel")


def cauchy(key: Any, shape: Any = (), dtype: Any = float32) -> Array:
    """Cauchy's distribution."""
    return _cast(Generator(key).standard_cauchy(shape), dtype, "cauchy")


def rayleigh(key: Any, scale: Any = 1.0, shape: Any = None, dtype: Any = float32) -> Array:
    """Rayleigh's distribution."""
    return _cast(Generator(key).rayleigh(scale, shape), dtype, "rayleigh")


def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = float32) -> Array:
    """exp of normal floats of deviation sigma."""
    return _cast(Generator(key).lognormal(0.0, sigma, shape), dtype, "lognormal")


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Pareto's distribution of shape b, from 1 on (Generator.pareto begins at 0)."""
    return _cast(ew.add(Generator(key).pareto(b, shape), 1.0), dtype, "pareto")


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Weibull's distribution of a scale and a shape (concentration)."""
    given = Parameters("weibull_min")
    scale = given.take("scale", scale, "not negative")
    concentration = given.take("concentration", concentration, "positive")
    dims = given.shape(shape)
    made = ew.multiply(quantile("weibull", key, dims, None, concentration), scale)
    return _cast(given.put(made), dtype, "weibull_min")


def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Densities that rise from left to mode and fall to right."""
    return _cast(Generator(key).triangular(left, mode, right, shape), dtype, "triangular")


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Normal floats between lower and upper. ValueError unless lower < upper."""
    given = Parameters("truncated_normal")
    lower, upper = given.take("lower", lower), given.take("upper", upper)
    given.ordered("lower", "upper", True)
    dims = given.shape(shape)
    return _cast(given.put(quantile("truncated", key, dims, None, lower, upper)), dtype, "truncated_normal")


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Gamma's distribution of shape a and scale 1."""
    return Generator(key).standard_gamma(a, shape, dtype)


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """The logarithm of gamma's values, also where these are too small for a float."""
    given = Parameters("loggamma")
    a = given.take("a", a, "positive")
    return _cast(given.put(draw("log_gamma", key, given.shape(shape), None, a)), dtype, "loggamma")


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """The beta distribution on [0, 1]."""
    return _cast(Generator(key).beta(a, b, shape), dtype, "beta")


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """The sum of df squares of normal numbers."""
    return _cast(Generator(key).chisquare(df, shape), dtype, "chisquare")


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """The ratio of two chisquare by their degrees of freedom."""
    return _cast(Generator(key).f(dfnum, dfden, shape), dtype, "f")


def t(key: Any, df: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Student's t of df degrees of freedom."""
    return _cast(Generator(key).standard_t(df, shape), dtype, "t")


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Wald's (inverse Gaussian) distribution of a mean and scale 1."""
    return _cast(Generator(key).wald(mean, 1.0, shape), dtype, "wald")


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = int32) -> Array:
    """Counts of mean lam."""
    return astype(Generator(key).poisson(lam, shape), dtype, copy=False)


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """Successes of n trials, each of probability p, as floats (jax.random's dtype)."""
    return astype(Generator(key).binomial(n, p, shape), dtype, copy=False)


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = int32) -> Array:
    """How many trials up to the first success, of probability p."""
    return astype(Generator(key).geometric(p, shape), dtype, copy=False)


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """shape + (k,) shares that sum to 1, of Dirichlet's distribution."""
    return _cast(Generator(key).dirichlet(alpha, shape), dtype, "dirichlet")


def multinomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = float32) -> Array:
    """shape + (k,): how n trials fall on k outcomes, as floats (jax.random's dtype)."""
    return astype(Generator(key).multinomial(n, p, shape), dtype, copy=False)


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = float32, method: str = "cholesky"
) -> Array:
    """shape + (n,) normal vectors of a mean and a covariance matrix."""
    made = Generator(key).multivariate_normal(mean, cov, shape, method=method)
    return _cast(made, dtype, "multivariate_normal")


def rademacher(key: Any, shape: Any = (), dtype: Any = int32) -> Array:
    """-1 or 1."""
    return astype(ew.subtract(ew.multiply(Generator(key).integers(2, size=shape), 2), 1), dtype, copy=False)


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Array:
    """A shuffled copy along an axis, or the numbers below an integer, shuffled. independent: each line by itself."""
    rng = Generator(key)
    return rng.permuted(x, axis) if independent else rng.permutation(x, axis)


def choice(key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0) -> Array:
    """Elements of an array along an axis (of an integer: numbers below it), with or without putting back."""
    return Generator(key).choice(a, shape, replace, p, axis)


def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None) -> Any:
    """int32 positions along an axis, with probabilities softmax(logits): -inf is never taken.

    shape: that of the result, to which logits without their axis broadcast.
    """
    x = astype(from_host(logits, "categorical"), float32, copy=False)
    if not x.ndim:
        raise ValueError("categorical: logits must have an axis")
    rows = last(x, normalize_axis(axis, x.ndim, "categorical"))
    lead = rows.shape[:-1]
    dims = lead if shape is None else as_shape(shape, "categorical")
    if broadcast_shapes(dims, lead, where="categorical") != dims:
        raise ValueError(f"categorical: logits of shape {lead} do not broadcast to the shape {dims}")
    noise: Any = Generator(key).gumbel(size=(*dims, rows.shape[-1]))
    if 0 in dims:
        return astype(noise[..., 0] if noise.shape[-1] else noise.sum(axis=-1), int32)
    if not rows.shape[-1]:
        raise ValueError("categorical: there is nothing to choose from")
    return reductions.argmax(ew.add(noise, broadcast_to(rows, noise.shape)), axis=-1)


def geometric_brownian(
    key: Any, state: Any, drift: Any, scale: Any, steps: int, *, paths: bool = False
) -> Array:
    """Geometric Brownian motion from a state: each step multiplies by exp(drift + scale * z), z normal.

    The state after all steps, in one launch for each 4096 of them; with paths=True state.shape + (steps + 1,), all
    states on the way, of the same numbers. drift and scale may be arrays that broadcast to state's shape.
    """
    from operator import index as as_index

    name = "geometric_brownian"
    given = Parameters(name)
    x = astype(from_host(state, name), float32, copy=False)
    drift, scale = given.take("drift", drift), given.take("scale", scale, "not negative")
    steps, dims = as_index(steps), broadcast_shapes(x.shape, given.shape(None), where=name)
    if steps < 0:
        raise ValueError(f"{name}: the number of steps must not be negative: {steps}")
    x = broadcast_to(x, dims)
    if paths:
        return given.put(_paths(key, x, drift, scale, steps))
    for first in range(0, steps, CHUNK):
        x = draw("path", key, dims, None, x, drift, scale, first, min(CHUNK, steps - first))
    return given.put(x) if steps else x


def _paths(key: Any, x: Array, drift: Any, scale: Any, steps: int) -> Array:
    from ..ops.creation import positions, zeros
    from ..ops.joining import concat
    from ..ops.manipulation import expand_dims
    from ..ops.scans import cumsum
    from .applying import apply, counter, threefry
    from .draws import _draw
    from .keys import ThreefryKey, words_of

    fn = _draw("step")
    if isinstance(key, ThreefryKey):
        fn = threefry(fn)
    dims = (*x.shape, steps)
    drift, scale = [expand_dims(p, -1) if isinstance(p, Array) and p.ndim else p for p in (drift, scale)]
    start = zeros((*x.shape, 1))
    if 0 not in dims:
        from ..dtypes import uint32

        at = broadcast_to(expand_dims(counter(x.shape, None), -1), dims)
        z = apply(fn, dims, at, *words_of(key, "geometric_brownian"), astype(positions(steps), uint32))
        start = concat([start, cumsum(ew.add(ew.multiply(z, scale), drift), axis=-1)], axis=-1)
    return ew.multiply(expand_dims(x, -1), ew.exp(start))


__all__ = [
    "beta", "binomial", "categorical", "cauchy", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma",
    "geometric", "geometric_brownian", "gumbel", "laplace", "loggamma", "logistic", "lognormal", "multinomial",
    "multivariate_normal", "pareto", "permutation", "poisson", "rademacher", "rayleigh", "t", "triangular",
    "truncated_normal", "wald", "weibull_min",
]  # fmt: skip
