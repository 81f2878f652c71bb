"""scipy.stats.norm's functions of arrays: density, distribution, quantile and their logarithms and complements."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..special import log_ndtr, ndtr, ndtri
from .operands import real


class Normal:
    """The normal distribution of mean `loc` and deviation `scale` (not positive: NaN), both numbers or arrays."""

    def __repr__(self) -> str:
        return "<tabgpu norm>"

    def pdf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The density at x."""
        z, scale = self._scores(x, loc, scale, "norm.pdf")
        return ew.divide(ew.exp(ew.multiply(ew.multiply(z, z), -0.5)), ew.multiply(scale, sqrt(2 * pi)))

    def logpdf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The logarithm of pdf."""
        z, scale = self._scores(x, loc, scale, "norm.logpdf")
        return ew.subtract(ew.multiply(ew.multiply(z, z), -0.5), ew.add(ew.log(scale), 0.5 * log(2 * pi)))

    def cdf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The probability of values up to x."""
        return ndtr(self._scores(x, loc, scale, "norm.cdf")[0])

    def logcdf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The logarithm of cdf, without cancellation."""
        return log_ndtr(self._scores(x, loc, scale, "norm.logcdf")[0])

    def sf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The probability of values above x."""
        return ndtr(ew.negative(self._scores(x, loc, scale, "norm.sf")[0]))

    def logsf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The logarithm of sf."""
        return log_ndtr(ew.negative(self._scores(x, loc, scale, "norm.logsf")[0]))

    def ppf(self, q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The x at which cdf is q: -inf at 0, inf at 1, NaN outside."""
        return self._placed(ndtri(real(q, "norm.ppf")), loc, scale)

    def isf(self, q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Array:
        """The x at which sf is q."""
        return self._placed(ew.negative(ndtri(real(q, "norm.isf"))), loc, scale)

    @staticmethod
    def _scale(scale: Any) -> Array:
        scale = real(scale, "norm")
        return ew.where(ew.greater(scale, 0.0), scale, float("nan"))

    def _scores(self, x: Any, loc: Any, scale: Any, where: str) -> tuple[Array, Array]:
        scale = self._scale(scale)
        return ew.divide(ew.subtract(real(x, where), loc), scale), scale

    def _placed(self, z: Array, loc: Any, scale: Any) -> Array:
        return ew.add(ew.multiply(z, self._scale(scale)), loc)


norm = Normal()
