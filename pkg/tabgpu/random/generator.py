"""numpy.random.Generator: methods that take the next positions of one stream. What several elements share: choosing.py,
multivariate.py."""

from __future__ import annotations

import math
from typing import Any

from ..array import Array
from ..dtypes import float32, int32, uint8
from ..ops import elementwise as ew
from ..ops.creation import astype
from .applying import floating, host_array, into, random_words, shape_of, sized
from .draws import draw, half, moved, noncentral, quantile, turned
from .keys import Key
from .parameters import Parameters
from .seeding import BitGenerator, Philox, SeedSequence, Threefry
from .values import integers_from, normal_from, uniform_from


class Generator:
    """NumPy's Generator over a bit generator (`Philox(seed)`, `Threefry(seed)`), or over a key of tg.random.

    Two draws of 5 are one draw of 10. A key and a position are all its state. Floats are float32, integers int32; a
    value depends on nothing but the key and its own position, whatever else is drawn. Wrong parameters are ValueErrors:
    at the call where they are the host's, at the read where they are Arrays.
    """

    __slots__ = ("bit_generator",)

    def __init__(self, bit_generator: Any) -> None:
        from .keys import ThreefryKey

        if not isinstance(bit_generator, BitGenerator):
            kind = Threefry if isinstance(bit_generator, ThreefryKey) else Philox
            bit_generator = kind(key=bit_generator)
        self.bit_generator = bit_generator

    def __repr__(self) -> str:
        return f"Generator({self.bit_generator!r})"

    def spawn(self, n_children: int) -> list[Generator]:
        """n_children Generators with keys of their own, independent of this one and of earlier children."""
        return [Generator(b) for b in self.bit_generator.spawn(n_children)]

    # ---- how methods take positions ----

    def _take(self, dims: tuple[int, ...]) -> tuple[Any, int]:
        key, start = self.bit_generator.take(math.prod(dims))
        return key, start

    def _quantile(self, name: str, given: Parameters, size: Any, *parameters: Any) -> Array:
        dims = given.shape(size)
        key, start = self._take(dims)
        return quantile(name, key, dims, start, *parameters)

    def _draw(self, name: str, given: Parameters, size: Any, *parameters: Any) -> Array:
        dims = given.shape(size)
        key, start = self._take(dims)
        return draw(name, key, dims, start, *parameters)

    def _moved(self, name: str, size: Any, loc: Any, scale: Any) -> Array:
        """loc + scale * a standard quantile."""
        given = Parameters(name)
        loc, scale = given.take("loc", loc), given.take("scale", scale, "not negative")
        return given.put(moved(self._quantile(name, given, size), loc, scale))

    # ---- words, uniform and normal numbers ----

    def random(self, size: Any = None, dtype: Any = float32, out: Array | None = None) -> Array:
        """Uniform floats in [0, 1)."""
        return into(out, self.uniform(0.0, 1.0, sized(size, out, "random"), dtype))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = float32) -> Array:
        """Uniform floats in [low, high)."""
        low, high = host_array(low), host_array(high)
        dims = shape_of(size, "uniform", low, high)
        with self.bit_generator.kept():
            key, start = self._take(dims)
            return uniform_from(key, dims, dtype, low, high, start, "uniform")

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = int32, endpoint: bool = False
    ) -> Array:
        """Integers from low to below high (or to it: endpoint), all equally likely."""
        low, high = [host_array(x) for x in (low, high)]
        dims = shape_of(size, "integers", low, high)
        with self.bit_generator.kept():
            key, start = self._take(dims)
            return integers_from(key, low, high, dims, dtype, endpoint, start, "integers")

    def bytes(self, length: int) -> Array:
        """length random bytes, as uint8: bytes(await rng.bytes(8).tobytes())."""
        dims = shape_of(length, "bytes")
        key, start = self._take(dims)
        return astype(random_words(key, dims, start, "bytes"), uint8)

    def standard_normal(self, size: Any = None, dtype: Any = float32, out: Array | None = None) -> Array:
        """Normal floats of mean 0 and standard deviation 1."""
        return into(out, self.normal(0.0, 1.0, sized(size, out, "standard_normal"), dtype))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = float32) -> Array:
        """Normal floats: loc + scale * z."""
        given = Parameters("normal")
        loc, scale = given.take("loc", loc), given.take("scale", scale, "not negative")
        dims = given.shape(size)
        key, start = self._take(dims)
        return given.put(normal_from(key, dims, dtype, loc, scale, start, "normal"))

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Array:
        """exp of normal floats of that mean and deviation."""
        given = Parameters("lognormal")
        mean, sigma = given.take("mean", mean), given.take("sigma", sigma, "not negative")
        dims = given.shape(size)
        key, start = self._take(dims)
        return given.put(ew.exp(normal_from(key, dims, float32, mean, sigma, start, "lognormal")))

    # ---- of one word ----

    def standard_exponential(
        self, size: Any = None, dtype: Any = float32, method: str = "zig", out: Array | None = None
    ) -> Array:
        """Exponential floats of scale 1. method is accepted: the quantile is taken."""
        if method not in ("zig", "inv"):
            raise ValueError(f"standard_exponential: method must be 'zig' or 'inv', not {method!r}")
        want, given = floating(dtype, "standard_exponential"), Parameters("standard_exponential")
        made = self._quantile("exponential", given, sized(size, out, "standard_exponential"))
        return into(out, astype(made, want, copy=False))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Array:
        """Exponential floats: density exp(-x / scale) / scale."""
        return self._moved("exponential", size, 0.0, scale)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """Laplace's distribution: density exp(-|x - loc| / scale) / (2 scale)."""
        return self._moved("laplace", size, loc, scale)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """The logistic distribution."""
        return self._moved("logistic", size, loc, scale)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """Gumbel's distribution of greatest values."""
        return self._moved("gumbel", size, loc, scale)

    def standard_cauchy(self, size: Any = None) -> Array:
        """Cauchy's distribution."""
        return self._quantile("cauchy", Parameters("standard_cauchy"), size)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Array:
        """Rayleigh's distribution: scale * sqrt(2 e), e exponential."""
        return self._moved("rayleigh", size, 0.0, scale)

    def _shaped(self, name: str, a: Any, size: Any, rule: str) -> Array:
        given = Parameters(name)
        a = given.take("a", a, rule)
        return given.put(self._quantile(name, given, size, a))

    def weibull(self, a: Any, size: Any = None) -> Array:
        """Weibull's distribution of shape a: e**(1 / a), e exponential."""
        return self._shaped("weibull", a, size, "not negative")

    def pareto(self, a: Any, size: Any = None) -> Array:
        """Pareto's second (Lomax's) distribution of shape a: exp(e / a) - 1, e exponential."""
        return self._shaped("pareto", a, size, "positive")

    def power(self, a: Any, size: Any = None) -> Array:
        """Density a x**(a - 1) on [0, 1]."""
        return self._shaped("power", a, size, "positive")

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Array:
        """Densities that rise from left to mode and fall to right."""
        given = Parameters("triangular")
        left, mode, right = [given.take(n, x) for n, x in (("left", left), ("mode", mode), ("right", right))]
        given.ordered("left", "mode", False)
        given.ordered("mode", "right", False)
        given.ordered("left", "right", True)
        return given.put(self._quantile("triangular", given, size, left, mode, right))

    def geometric(self, p: Any, size: Any = None) -> Array:
        """int32: how many trials up to the first success, of probability p. At most 2**31 - 1."""
        given = Parameters("geometric")
        p = given.take("p", p, "above 0, to 1")
        return given.put(self._quantile("geometric", given, size, p))

    # ---- of blocks of each element's own ----

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = float32, out: Array | None = None
    ) -> Array:
        """Gamma's distribution of a shape and scale 1."""
        want, given = floating(dtype, "standard_gamma"), Parameters("standard_gamma")
        shape = given.take("shape", shape, "not negative")
        made = self._draw("gamma", given, sized(size, out, "standard_gamma"), shape, 0)
        return into(out, given.put(astype(made, want, copy=False)))

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Array:
        """Gamma's distribution: density x**(shape - 1) exp(-x / scale), scaled."""
        given = Parameters("gamma")
        shape, scale = given.take("shape", shape, "not negative"), given.take("scale", scale, "not negative")
        return given.put(moved(self._draw("gamma", given, size, shape, 0), 0.0, scale))

    def chisquare(self, df: Any, size: Any = None) -> Array:
        """The sum of df squares of normal numbers; df > 0 need not be whole."""
        given = Parameters("chisquare")
        df = given.take("df", df, "positive")
        return given.put(ew.multiply(self._draw("gamma", given, size, half(df), 0), 2.0))

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Array:
        """chisquare with noncentrality nonc: of df + 2 k degrees of freedom, k Poisson of mean nonc / 2."""
        given = Parameters("noncentral_chisquare")
        df, nonc = given.take("df", df, "positive"), given.take("nonc", nonc, "not negative")
        dims = given.shape(size)
        key, start = self._take(dims)
        return given.put(noncentral(key, dims, start, df, nonc))

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Array:
        """The ratio of two chisquare by their degrees of freedom."""
        given = Parameters("f")
        dfnum, dfden = given.take("dfnum", dfnum, "positive"), given.take("dfden", dfden, "positive")
        return given.put(self._ratio(given, size, dfnum, dfden, None))

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Array:
        """f whose numerator has noncentrality nonc."""
        given = Parameters("noncentral_f")
        dfnum, dfden = given.take("dfnum", dfnum, "positive"), given.take("dfden", dfden, "positive")
        nonc = given.take("nonc", nonc, "not negative")
        return given.put(self._ratio(given, size, dfnum, dfden, nonc))

    def _ratio(self, given: Parameters, size: Any, dfnum: Any, dfden: Any, nonc: Any) -> Array:
        dims = given.shape(size)
        key, start = self._take(dims)
        if nonc is None:
            above = ew.multiply(draw("gamma", key, dims, start, half(dfnum), 0), 2.0)
        else:
            above = noncentral(key, dims, start, dfnum, nonc)
        below = ew.multiply(draw("gamma", key, dims, start, half(dfden), 1), 2.0)
        return ew.divide(ew.divide(above, dfnum), ew.divide(below, dfden))

    def standard_t(self, df: Any, size: Any = None) -> Array:
        """Student's t of df > 0 degrees of freedom."""
        given = Parameters("standard_t")
        df = given.take("df", df, "positive")
        dims = given.shape(size)
        key, start = self._take(dims)
        z = draw("normal", key, dims, start, 1)
        g = draw("gamma", key, dims, start, half(df), 0)
        return given.put(ew.multiply(z, ew.sqrt(ew.divide(half(df), g))))

    def beta(self, a: Any, b: Any, size: Any = None) -> Array:
        """The beta distribution on [0, 1]."""
        given = Parameters("beta")
        a, b = given.take("a", a, "positive"), given.take("b", b, "positive")
        return given.put(self._draw("beta", given, size, a, b))

    def wald(self, mean: Any, scale: Any, size: Any = None) -> Array:
        """Wald's (inverse Gaussian) distribution."""
        given = Parameters("wald")
        mean, scale = given.take("mean", mean, "positive"), given.take("scale", scale, "positive")
        return given.put(self._draw("wald", given, size, mean, scale))

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Array:
        """Von Mises' distribution on the circle, in [-pi, pi]."""
        given = Parameters("vonmises")
        mu, kappa = given.take("mu", mu), given.take("kappa", kappa, "not negative")
        return given.put(self._draw("vonmises", given, size, turned(mu), kappa))

    # ---- counts ----

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Array:
        """int32 counts of mean lam, at most 2147020000."""
        given = Parameters("poisson")
        lam = given.take("lam", lam, "mean")
        return given.put(self._draw("poisson", given, size, lam, 0))

    def binomial(self, n: Any, p: Any, size: Any = None) -> Array:
        """int32: successes of n trials, each of probability p."""
        given = Parameters("binomial")
        n, p = given.take("n", n, "not negative", int32), given.take("p", p, "from 0 to 1")
        return given.put(self._draw("binomial", given, size, n, p))

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Array:
        """int32: failures before n successes, each of probability p; n > 0 need not be whole. ValueError where they may
        be more than poisson has."""
        given = Parameters("negative_binomial")
        n, p = given.take("n", n, "positive"), given.take("p", p, "above 0, to 1")
        odds = ew.divide(ew.subtract(1.0, p), p) if isinstance(p, Array) else (1.0 - p) / p
        given.means(n, odds)
        dims = given.shape(size)
        key, start = self._take(dims)
        lam = ew.multiply(draw("gamma", key, dims, start, n, 0), odds)
        return given.put(draw("poisson", key, dims, start, lam, 1))

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Array:
        """int32: how many of nsample are good, taken without putting back from ngood and nbad below 10**9."""
        given = Parameters("hypergeometric")
        ngood, nbad, nsample = [
            given.take(n, x, "not negative", int32)
            for n, x in (("ngood", ngood), ("nbad", nbad), ("nsample", nsample))
        ]
        given.ordered("ngood", 10**9, True)
        given.ordered("nbad", 10**9, True)
        given.total("ngood + nbad", "ngood", "nbad")
        given.ordered("nsample", "ngood + nbad", False)
        return given.put(self._draw("hypergeometric", given, size, ngood, nbad, nsample))

    def logseries(self, p: Any, size: Any = None) -> Array:
        """int32 of the logarithmic series: probabilities in proportion to p**k / k."""
        given = Parameters("logseries")
        p = given.take("p", p, "from 0, below 1")
        return given.put(self._draw("logseries", given, size, p))

    def zipf(self, a: Any, size: Any = None) -> Array:
        """int32 of Zipf's law, up to 2**31 - 1: probabilities in proportion to k**-a."""
        given = Parameters("zipf")
        a = given.take("a", a, "above 1")
        return given.put(self._draw("zipf", given, size, a))

    # ---- what takes several elements together ----

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """A shuffled copy of an array along an axis, or the numbers below an integer, shuffled."""
        from .choosing import permutation

        return permutation(self, x, axis)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Shuffles an Array in place along an axis."""
        from .choosing import shuffle

        shuffle(self, x, axis)

    def permuted(self, x: Any, axis: int | None = None, out: Array | None = None) -> Array:
        """A copy in which each line along an axis is shuffled by itself (None: all elements)."""
        from .choosing import permuted

        return permuted(self, x, axis, out)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Array:
        """Elements of an array along an axis (of an integer: numbers below it), with or without putting back.

        p: their probabilities, of which those of 0 are never taken; steps of 2**-31 count. The same elements
        everywhere for p of the host with putting back, or without p.
        """
        from .choosing import choice

        return choice(self, a, size, replace, p, axis, shuffle)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Array:
        """int32 (.., k): how n trials fall on k outcomes of probabilities pvals, whose last axis sums to 1."""
        from .multivariate import multinomial

        return multinomial(self, n, pvals, size)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: str = "marginals"
    ) -> Array:
        """int32 (.., k): how many of each colour are among nsample taken without putting back. method is accepted."""
        from .multivariate import multivariate_hypergeometric

        return multivariate_hypergeometric(self, colors, nsample, size, method)

    def dirichlet(self, alpha: Any, size: Any = None) -> Array:
        """(.., k) shares that sum to 1, of Dirichlet's distribution."""
        from .multivariate import dirichlet

        return dirichlet(self, alpha, size)

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8, *,
        method: str = "svd",
    ) -> Array:  # fmt: skip
        """(.., n) normal vectors of a mean and a covariance matrix, by its svd, eigh or cholesky factor."""
        from .multivariate import multivariate_normal

        return multivariate_normal(self, mean, cov, size, check_valid, tol, method)


def default_rng(seed: Any = None) -> Generator:
    """A Generator of Philox words from a seed: an integer of any size, a sequence of integers, a SeedSequence, a key, a
    bit generator or a Generator (itself). None: from the system's own randomness, so that each call differs."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, (BitGenerator, Array, Key)):
        return Generator(seed)
    return Generator(Philox(seed))


__all__ = ["BitGenerator", "Generator", "Philox", "SeedSequence", "Threefry", "default_rng"]
