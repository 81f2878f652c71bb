"""Special functions under the names of scipy.special, elementwise, in float32. Their WGSL is in kernels/lib.

Each row states its greatest error in ULP over `domain`; docs/numerics.md lists what was measured. Integers and bools
become float32. What is made of several rows is in special_composed.py.
"""

from __future__ import annotations

from typing import Any

from .array import Array
from .ops.elementwise import add, cbrt, exp2, expm1, log1p, sinc, subtract
from .ops.rows import binary, ternary, unary
from .ops.statistics import logsumexp
from .special_composed import *  # noqa: F403
from .special_composed import __all__ as _COMPOSED

# fmt: off
__all__ = [
    "beta", "betainc", "betaincc", "betaln", "binom", "cbrt", "comb", "cosm1", "cospi", "digamma", "entr", "erf",
    "erfc", "erfcinv", "erfcx", "erfinv", "eval_chebyt", "eval_chebyu", "eval_hermite", "eval_hermitenorm",
    "eval_laguerre", "eval_legendre", "exp1", "exp2", "exp10", "expi", "expit", "expm1", "exprel", "factorial",
    "gamma", "gammainc", "gammaincc", "gammaln", "gammasgn", "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1",
    "k1e", "kl_div", "log1p", "log_expit", "log_ndtr", "loggamma", "logit", "logsumexp", "ndtr", "ndtri", "perm",
    "polygamma", "psi", "rel_entr", "rgamma", "sinc", "sinpi", "softplus", "stdtr", "xlog1py", "xlogy", "y0", "y1",
    "zeta", "zetac",
]
__all__.extend(_COMPOSED)

LOOSE = float("inf")  # no bound in ULP: relative to something else (docs/numerics.md)

# --- error function and normal distribution ---
erf = unary("erf", {"f": "erf_f32(x)"}, promote="float", ulp=3, domain=(-5.0, 5.0), like="scipy.special.erf",
            doc="The error function.")
erfc = unary("erfc", {"f": "erfc_f32(x)"}, promote="float", ulp=8, domain=(-5.0, 9.0), like="scipy.special.erfc",
             doc="1 - erf(x), without cancellation.")
erfcx = unary("erfcx", {"f": "erfcx_f32(x)"}, promote="float", ulp=8, domain=(-9.3, 100.0), like="scipy.special.erfcx",
              doc="exp(x**2) * erfc(x).")
erfinv = unary("erfinv", {"f": "erfinv_f32(x)"}, promote="float", ulp=6, domain=(-1.0, 1.0),
               like="scipy.special.erfinv", doc="The inverse of erf; +-inf at +-1, NaN beyond.")
erfcinv = unary("erfcinv", {"f": "erfcinv_f32(x)"}, promote="float", ulp=6, domain=(0.0, 2.0),
                like="scipy.special.erfcinv", doc="The inverse of erfc; inf at 0, -inf at 2, NaN outside.")
ndtr = unary("ndtr", {"f": "ndtr_f32(x)"}, promote="float", ulp=8, domain=(-13.0, 6.0), like="scipy.special.ndtr",
             doc="The standard normal distribution function.")
log_ndtr = unary("log_ndtr", {"f": "log_ndtr_f32(x)"}, promote="float", ulp=10, domain=(-100.0, 10.0),
                 like="scipy.special.log_ndtr", doc="log(ndtr(x)), without cancellation.")
ndtri = unary("ndtri", {"f": "ndtri_f32(x)"}, promote="float", ulp=8, domain=(0.0, 1.0), like="scipy.special.ndtri",
              doc="The inverse of ndtr: the quantile of the standard normal distribution.")

# --- gamma ---
gamma = unary("gamma", {"f": "gamma_f32(x)"}, promote="float", ulp=12, domain=(-30.0, 34.0),
              like="scipy.special.gamma",
              doc="The gamma function; +-inf at +-0, NaN at the negative integers, inf above 35.0401.")
rgamma = unary("rgamma", {"f": "rgamma_f32(x)"}, promote="float", ulp=14, domain=(-30.0, 33.0),
               like="scipy.special.rgamma", doc="1 / gamma(x), 0 at the poles.")
gammaln = unary("gammaln", {"f": "gammaln_f32(x)"}, promote="float", ulp=8, domain=(0.0, 1000.0),
                like="scipy.special.gammaln",
                doc="log |gamma(x)|. For x < 0 the error is 2**-19 of max(1, |result|), not relative at the zeros.")
loggamma = unary("loggamma", {"f": "loggamma_f32(x)"}, promote="float", ulp=8, domain=(0.0, 1000.0),
                 like="scipy.special.loggamma", doc="log(gamma(x)) of real x; NaN below 0.")
gammasgn = unary("gammasgn", {"f": "gammasgn_f32(x)"}, promote="float", domain=(-30.0, 30.0),
                 like="scipy.special.gammasgn", doc="The sign of gamma(x): 1, -1, or NaN at the poles.")
digamma = unary("digamma", {"f": "digamma_f32(x)"}, promote="float", ulp=5, domain=(0.0, 1000.0),
                like="scipy.special.digamma",
                doc="The logarithmic derivative of gamma. For x < 0 the error is relative to 1 + |pi / tan(pi x)|.")
beta = binary("beta", {"f": "beta_f32(x, y)"}, promote="float", ulp=60, domain=(0.1, 10.0), like="scipy.special.beta",
              doc="gamma(x) gamma(y) / gamma(x + y). Its error grows with |betaln|. NaN or inf at integers below 1.")
betaln = binary("betaln", {"f": "betaln_f32(x, y)"}, promote="float", ulp=8, domain=(3.0, 100.0),
                like="scipy.special.betaln", doc="log |beta(x, y)|. Near its zeros the error is absolute, 2**-20.")
_factorial = unary("factorial", {"f": "factorial_f32(x)"}, promote="float", ulp=12, domain=(0.0, 33.0),
                      like="scipy.special.factorial", doc="gamma(x + 1), 0 for negative x.")

gammainc = binary("gammainc", {"f": "gammainc_f32(x, y)"}, ulp=LOOSE, promote="float", domain=(0.1, 12.0),
                  like="scipy.special.gammainc",
                  doc="The regularised lower incomplete gamma function P(a, x). Its error grows with |log P|.")
gammaincc = binary("gammaincc", {"f": "gammaincc_f32(x, y)"}, ulp=LOOSE, promote="float", domain=(0.1, 12.0),
                   like="scipy.special.gammaincc", doc="1 - gammainc(a, x), without cancellation.")
betainc = ternary("betainc", {"f": "betainc_f32(x, y, z)"}, ulp=LOOSE, promote="float", like="scipy.special.betainc",
                  doc="The regularised incomplete beta function I_x(a, b). Its error grows with log I.")
betaincc = ternary("betaincc", {"f": "betaincc_f32(x, y, z)"}, ulp=LOOSE, promote="float",
                   like="scipy.special.betaincc",
                   doc="1 - betainc(a, b, x), without cancellation.")
stdtr = binary("stdtr", {"f": "stdtr_f32(x, y)"}, ulp=LOOSE, promote="float", domain=(0.5, 30.0),
               like="scipy.special.stdtr",
               doc="Student's distribution function of t with df degrees of freedom.")
_zeta = unary("zeta", {"f": "zeta_f32(x)"}, promote="float", ulp=12, domain=(1.1, 40.0), like="scipy.special.zeta",
                 doc="Riemann's zeta function.")
_hurwitz = binary("zeta_hurwitz", {"f": "hurwitz_f32(x, y)"}, promote="float", ulp=12, domain=(1.1, 20.0),
                     like="scipy.special.zeta", doc="Hurwitz' zeta function of q > 0.")
zetac = unary("zetac", {"f": "zetac_f32(x)"}, promote="float", ulp=12, domain=(1.1, 40.0), like="scipy.special.zetac",
              doc="zeta(x) - 1, without cancellation.")
_polygamma = binary("polygamma", {"f": "polygamma_f32(x, y)"}, ulp=LOOSE, operand_kinds="if",
                       like="scipy.special.polygamma",
                       doc="The n-th derivative of digamma for x > 0.")
exp1 = unary("exp1", {"f": "exp1_f32(x)"}, promote="float", ulp=12, domain=(0.0, 80.0), like="scipy.special.exp1",
             doc="The exponential integral E1 of x > 0; inf at 0, NaN below.")
expi = unary("expi", {"f": "expi_f32(x)"}, promote="float", ulp=12, domain=(-80.0, 88.0), like="scipy.special.expi",
             doc="The exponential integral Ei; -inf at 0.")

# --- combinatorics: products, exact as long as they are below 2**24 ---
binom = binary("binom", {"f": "binom_f32(x, y)"}, ulp=LOOSE, promote="float", domain=(0.0, 30.0),
               like="scipy.special.binom",
               doc="The binomial coefficient of real n and k.")
_comb = binary("comb", {"f": "comb_f32(x, y)"}, ulp=LOOSE, promote="float", domain=(0.0, 30.0),
                  like="scipy.special.comb",
                  doc="How many ways to choose k of n things.")
_perm = binary("perm", {"f": "perm_f32(x, y)"}, ulp=LOOSE, promote="float", domain=(0.0, 30.0),
                  like="scipy.special.perm",
                  doc="How many ordered choices of k of n things.")

# --- orthogonal polynomials of whole degrees up to 10,000, by their recurrences ---
_DEGREE: dict[str, Any] = {"operand_kinds": "if", "ulp": LOOSE}
eval_legendre = binary("eval_legendre", {"f": "eval_legendre_f32(x, y)"}, like="scipy.special.eval_legendre",
                       doc="Legendre's polynomial of degree n at x.", **_DEGREE)
eval_chebyt = binary("eval_chebyt", {"f": "eval_chebyt_f32(x, y)"}, like="scipy.special.eval_chebyt",
                     doc="Chebyshev's polynomial of the first kind of degree n at x.", **_DEGREE)
eval_chebyu = binary("eval_chebyu", {"f": "eval_chebyu_f32(x, y)"}, like="scipy.special.eval_chebyu",
                     doc="Chebyshev's polynomial of the second kind of degree n at x.", **_DEGREE)
eval_hermite = binary("eval_hermite", {"f": "eval_hermite_f32(x, y)"}, like="scipy.special.eval_hermite",
                      doc="Hermite's polynomial (physicists') of degree n at x.", **_DEGREE)
eval_hermitenorm = binary("eval_hermitenorm", {"f": "eval_hermitenorm_f32(x, y)"},
                          like="scipy.special.eval_hermitenorm",
                          doc="Hermite's polynomial (probabilists') of degree n at x.", **_DEGREE)
eval_laguerre = binary("eval_laguerre", {"f": "eval_laguerre_f32(x, y)"}, like="scipy.special.eval_laguerre",
                       doc="Laguerre's polynomial of degree n at x.", **_DEGREE)

# --- Bessel: errors of j0, j1, y0, y1 are relative to the larger of the value and sqrt(2 / (pi x)) ---
i0 = unary("i0", {"f": "i0_f32(x)"}, promote="float", ulp=10, domain=(-90.0, 90.0), like="scipy.special.i0",
           doc="Modified Bessel function of order 0.")
i0e = unary("i0e", {"f": "i0e_f32(x)"}, promote="float", ulp=8, domain=(-100.0, 100.0), like="scipy.special.i0e",
            doc="exp(-|x|) * i0(x).")
i1 = unary("i1", {"f": "i1_f32(x)"}, promote="float", ulp=10, domain=(-90.0, 90.0), like="scipy.special.i1",
           doc="Modified Bessel function of order 1.")
i1e = unary("i1e", {"f": "i1e_f32(x)"}, promote="float", ulp=8, domain=(-100.0, 100.0), like="scipy.special.i1e",
            doc="exp(-|x|) * i1(x).")

j0 = unary("j0", {"f": "j0_f32(x)"}, ulp=LOOSE, promote="float", domain=(-50.0, 50.0), like="scipy.special.j0",
           doc="Bessel function of the first kind, order 0.")
j1 = unary("j1", {"f": "j1_f32(x)"}, ulp=LOOSE, promote="float", domain=(-50.0, 50.0), like="scipy.special.j1",
           doc="Bessel function of the first kind, order 1.")
y0 = unary("y0", {"f": "y0_f32(x)"}, ulp=LOOSE, promote="float", domain=(0.0, 50.0), like="scipy.special.y0",
           doc="Bessel function of the second kind, order 0; -inf at 0, NaN below.")
y1 = unary("y1", {"f": "y1_f32(x)"}, ulp=LOOSE, promote="float", domain=(0.0, 50.0), like="scipy.special.y1",
           doc="Bessel function of the second kind, order 1; -inf at 0, NaN below.")
k0 = unary("k0", {"f": "k0_f32(x)"}, promote="float", ulp=10, domain=(0.0, 80.0), like="scipy.special.k0",
           doc="Modified Bessel function of the second kind, order 0; inf at 0, NaN below.")
k0e = unary("k0e", {"f": "k0e_f32(x)"}, promote="float", ulp=10, domain=(0.0, 100.0), like="scipy.special.k0e",
           doc="exp(x) * k0(x).")
k1 = unary("k1", {"f": "k1_f32(x)"}, promote="float", ulp=10, domain=(0.0, 80.0), like="scipy.special.k1",
           doc="Modified Bessel function of the second kind, order 1; inf at 0, NaN below.")
k1e = unary("k1e", {"f": "k1e_f32(x)"}, promote="float", ulp=10, domain=(0.0, 100.0), like="scipy.special.k1e",
           doc="exp(x) * k1(x).")

# --- logistic and entropy ---
expit = unary("expit", {"f": "expit_f32(x)"}, promote="float", ulp=6, domain=(-80.0, 20.0), like="scipy.special.expit",
              doc="1 / (1 + exp(-x)).")
logit = unary("logit", {"f": "logit_f32(x)"}, promote="float", ulp=5, domain=(0.0, 1.0), like="scipy.special.logit",
              doc="log(x / (1 - x)).")
log_expit = unary("log_expit", {"f": "log_expit_f32(x)"}, promote="float", ulp=5, domain=(-90.0, 80.0),
                  like="scipy.special.log_expit", doc="log(expit(x)).")
softplus = unary("softplus", {"f": "softplus_f32(x)"}, promote="float", ulp=5, domain=(-80.0, 90.0),
                 like="scipy.special.softplus", doc="log(1 + exp(x)).")
exprel = unary("exprel", {"f": "exprel_f32(x)"}, promote="float", ulp=6, domain=(-20.0, 90.0),
               like="scipy.special.exprel", doc="(exp(x) - 1) / x, 1 at 0.")
xlogy = binary("xlogy", {"f": "xlogy_f32(x, y)"}, promote="float", ulp=3, domain=(0.0, 10.0),
               like="scipy.special.xlogy", doc="x * log(y), 0 where x = 0.")
xlog1py = binary("xlog1py", {"f": "xlog1py_f32(x, y)"}, promote="float", ulp=3, domain=(-1.0, 10.0),
                 like="scipy.special.xlog1py", doc="x * log(1 + y), 0 where x = 0.")
entr = unary("entr", {"f": "entr_f32(x)"}, promote="float", ulp=3, domain=(0.0, 10.0), like="scipy.special.entr",
             doc="-x * log(x); 0 at 0, -inf below.")
rel_entr = binary("rel_entr", {"f": "rel_entr_f32(x, y)"}, promote="float", ulp=5, domain=(0.0, 10.0),
                  like="scipy.special.rel_entr", doc="x * log(x / y); 0 where x = 0 <= y, inf outside.")
kl_div = binary("kl_div", {"f": "kl_div_f32(x, y)"}, promote="float", ulp=18, domain=(0.1, 10.0),
                like="scipy.special.kl_div", doc="x * log(x / y) - x + y, without cancellation for x near y.")

# --- powers and angles ---
exp10 = unary("exp10", {"f": "pow_f32(10.0f, x)"}, promote="float", ulp=2, domain=(-37.0, 38.0),
              like="scipy.special.exp10", doc="10 ** x.")
cosm1 = unary("cosm1", {"f": "cosm1_f32(x)"}, promote="float", ulp=6, domain=(-3.0, 3.0), like="scipy.special.cosm1",
              doc="cos(x) - 1, without cancellation near 0.")
sinpi = unary("sinpi", {"f": "sinpi_f32(x)"}, promote="float", ulp=2, domain=(-10.0, 10.0), like="math.sinpi",
              doc="sin(pi * x), exact at multiples of 1/2.")
cospi = unary("cospi", {"f": "cospi_f32(x)"}, promote="float", ulp=2, domain=(-10.0, 10.0), like="math.cospi",
              doc="cos(pi * x), exact at multiples of 1/2.")
psi = digamma
# fmt: on


def factorial(n: Any, exact: bool = False) -> Array:
    """n!, that is gamma(n + 1), in float32; 0 for negative n. exact=True would need integers beyond 32 bits."""
    if exact:
        raise ValueError("factorial: exact=True needs integers of any size; use math.factorial")
    return _factorial(n)


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Array:  # SciPy's name
    """How many ways to choose k of N things (repetition: each several times), in float32: exact below 2**24, 0 unless
    0 <= k <= N. exact=True would need integers beyond 32 bits: ValueError."""
    if exact:
        raise ValueError("comb: exact=True needs integers of any size; use math.comb")
    return _comb(subtract(add(N, k), 1) if repetition else N, k)


def perm(N: Any, k: Any, exact: bool = False) -> Array:  # SciPy's name
    """How many ordered choices of k of N things, N! / (N - k)!, in float32; 0 unless 0 <= k <= N. exact: as comb."""
    if exact:
        raise ValueError("perm: exact=True needs integers of any size; use math.perm")
    return _perm(N, k)


def zeta(x: Any, q: Any = None) -> Array:
    """Riemann's zeta function of real x, inf at 1; with q Hurwitz', the sum of (k + q)**-x, for x > 1 and q > 0 (SciPy
    also has q < 0 with whole x)."""
    return _zeta(x) if q is None else _hurwitz(x, q)


def polygamma(n: Any, x: Any) -> Array:
    """The n-th derivative (n >= 0, integers) of digamma at x > 0; digamma itself for n = 0; NaN for x < 0 and n > 0."""
    return _polygamma(n, x)
