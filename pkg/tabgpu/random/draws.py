"""Distributions as elementwise functions of kernels/lib/random_*: of a word, or of a position and a key."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from ..array import Array
from ..dtypes import DType, float32, int32
from ..graph import Fn
from ..ops import elementwise as ew
from ..ops.creation import astype, full
from .applying import apply, drawn, function, random_words
from .keys import host

# name: kinds of its parameters, of the result
_QUANTILES = {
    "exponential": "", "laplace": "", "logistic": "", "gumbel": "", "cauchy": "", "rayleigh": "", "weibull": "f",
    "pareto": "f", "power": "f", "geometric": "f", "triangular": "fff", "truncated": "ff",
}  # fmt: skip
_DRAWS = {
    "gamma": "fu", "log_gamma": "f", "beta": "ff", "wald": "ff", "vonmises": "ff", "normal": "u", "exponential": "u",
    "poisson": "fu", "binomial": "if", "hypergeometric": "iii", "logseries": "f", "zipf": "f", "path": "fffuu",
    "step": "u",
}  # fmt: skip
FAR = 2.0**30  # a Poisson mean above which counts are rounded normal numbers in float32
_ONE_BY_ONE = ("wald", "normal", "exponential", "step")  # short enough to be written four times
_COUNTS = ("geometric", "poisson", "binomial", "hypergeometric", "logseries", "zipf")


def _result(name: str) -> DType:
    return int32 if name in _COUNTS else float32


@cache
def _quantile(name: str) -> Fn:
    return function(f"random_{name}", "u" + _QUANTILES[name], _result(name))


@cache
def _draw(name: str) -> Fn:
    return function(f"draw_{name}", "iuu" + _DRAWS[name], _result(name), name not in _ONE_BY_ONE)


def quantile(name: str, key: Any, dims: tuple[int, ...], start: int | None, *parameters: Any) -> Array:
    """A distribution's quantile at the word of each position."""
    if 0 in dims:
        return full(dims, 0, dtype=_result(name))
    return apply(_quantile(name), dims, random_words(key, dims, start, name), *parameters)


def draw(name: str, key: Any, dims: tuple[int, ...], start: int | None, *parameters: Any) -> Array:
    """A sample from blocks of each position's own."""
    if 0 in dims:
        return full(dims, 0, dtype=_result(name))
    return drawn(_draw(name), key, dims, start, name, *parameters)


def moved(x: Array, loc: Any, scale: Any) -> Array:
    """loc + scale * x, without what does nothing."""
    if not (type(scale) is float and scale == 1):
        x = ew.multiply(x, scale)
    return x if type(loc) is float and loc == 0 else ew.add(x, loc)


def half(x: Any) -> Any:
    """x / 2"""
    return ew.multiply(x, 0.5) if isinstance(x, Array) else x * 0.5


def turned(angle: Any) -> Any:
    """An angle as one from -pi to pi: beyond, float32 would not know it after a sum."""
    if not isinstance(angle, Array):
        return host(_turned, angle)
    near = ew.arctan2(ew.sin(angle), ew.cos(angle))
    return ew.where(ew.less_equal(ew.abs(angle), math.pi), angle, near)


def _turned(angle: float) -> float:
    beyond = math.pi < abs(angle) < math.inf
    return math.atan2(math.sin(angle), math.cos(angle)) if beyond else angle


def noncentral(key: Any, dims: tuple[int, ...], start: int, df: Any, nonc: Any) -> Array:
    """A noncentral chisquare: of counts, or, where these would end, of normal numbers as good as they."""
    mean = half(nonc)
    if isinstance(mean, Array):
        many = ew.greater(mean, FAR)
        near, far = ew.where(many, 0.0, mean), ew.where(many, mean, 0.0)
        wide = ew.sqrt(ew.minimum(far, 3e38))
    else:
        near, far, wide = [host(part, mean) for part in (_near, _far, _wide)]
    known = type(mean) is float
    k: Any = None
    if not (known and far):
        k = astype(draw("poisson", key, dims, start, near, 2), float32)
    if not (known and near == mean):
        z = ew.add(ew.multiply(draw("normal", key, dims, start, 2), wide), far)
        k = z if k is None else ew.add(k, z)
    return ew.multiply(draw("gamma", key, dims, start, ew.add(k, half(df)), 0), 2.0)


def _near(mean: float) -> float:
    return mean if mean <= FAR else 0.0


def _far(mean: float) -> float:
    return mean if mean > FAR else 0.0


def _wide(mean: float) -> float:
    return math.sqrt(min(_far(mean), 3e38))
