"""scipy.special: what SciPy dispatches: tabgpu's function of that name where there is one, else SciPy's on the host.

Tolerance 1e-4, relative and absolute: SciPy's own float32 results, where it computes, are no better for some.
"""

from __future__ import annotations

import numpy as np
import pytest
from data import COUNTS, POSITIVE, REAL, UNIT
from same import same
from scipy import special
from scipy.special._support_alternative_backends import _special_funcs

import tabgpu as tg

TOL = 1e-4
LARGE = {"fdtri": 1e-3, "stdtrit": 1e-3}  # results of 1e9, and roots of flat functions: SciPy's in float32
BACK = POSITIVE[::-1].copy()
ARGUMENTS = {
    "bdtr": (UNIT * 5, COUNTS + 5, UNIT), "bdtrc": (UNIT * 5, COUNTS + 5, UNIT), "bdtri": (UNIT * 5, COUNTS + 5, UNIT),
    "betainc": (POSITIVE, BACK, UNIT), "betaincc": (POSITIVE, BACK, UNIT), "betaincinv": (POSITIVE, BACK, UNIT),
    "betaln": (POSITIVE, BACK), "binom": (POSITIVE, BACK), "boxcox": (POSITIVE, REAL), "boxcox1p": (POSITIVE, REAL),
    "chdtr": (POSITIVE, BACK), "chdtrc": (POSITIVE, BACK), "chdtri": (POSITIVE, UNIT), "ellipk": (UNIT,),
    "ellipkm1": (UNIT,), "entr": (POSITIVE,), "erfinv": (2 * UNIT - 1,), "exp1": (POSITIVE,), "expi": (POSITIVE,),
    "expn": (COUNTS, POSITIVE), "fdtr": (POSITIVE, BACK, POSITIVE), "fdtrc": (POSITIVE, BACK, POSITIVE),
    "fdtri": (POSITIVE, BACK, UNIT), "gammainc": (POSITIVE, BACK), "gammaincc": (POSITIVE, BACK),
    "gammainccinv": (POSITIVE, UNIT), "gammaincinv": (POSITIVE, UNIT), "gammaln": (POSITIVE,),
    "gdtr": (POSITIVE, BACK, POSITIVE), "gdtrc": (POSITIVE, BACK, POSITIVE), "huber": (POSITIVE, REAL),
    "hyp1f1": (POSITIVE, BACK, REAL), "inv_boxcox": (UNIT, UNIT), "inv_boxcox1p": (UNIT, UNIT), "k0": (POSITIVE,),
    "k0e": (POSITIVE,), "k1": (POSITIVE,), "k1e": (POSITIVE,), "kl_div": (POSITIVE, BACK), "logit": (UNIT,),
    "lpmv": (COUNTS * 0 + 1, COUNTS, UNIT), "multigammaln": (POSITIVE + 3, 2), "nbdtr": (COUNTS, COUNTS, UNIT),
    "nbdtrc": (COUNTS, COUNTS, UNIT), "nbdtri": (COUNTS, COUNTS, UNIT), "ndtri": (UNIT,), "pdtr": (COUNTS, POSITIVE),
    "pdtrc": (COUNTS, POSITIVE), "pdtri": (COUNTS, UNIT), "poch": (POSITIVE, BACK), "polygamma": (COUNTS, POSITIVE),
    "pseudo_huber": (POSITIVE, REAL), "psi": (POSITIVE,), "radian": (POSITIVE, BACK, POSITIVE),
    "rel_entr": (POSITIVE, BACK), "stdtr": (POSITIVE, REAL), "stdtrit": (POSITIVE, UNIT), "xlog1py": (POSITIVE, BACK),
    "xlogy": (POSITIVE, BACK), "y0": (POSITIVE,), "y1": (POSITIVE,), "yn": (COUNTS, POSITIVE),
    "zeta": (POSITIVE + 1.2, UNIT),
}  # fmt: skip
FUNCTIONS = {info.name: info.n_args for info in _special_funcs}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special(name: str) -> None:
    arguments = ARGUMENTS.get(name, (REAL,) * FUNCTIONS[name])
    ours = getattr(tg.special, name, None)
    before = tg.memory()["reads"] if ours else 0
    same(getattr(special, name), *arguments, tol=LARGE.get(name, TOL))
    if ours:  # nothing went through the host but the result, for the comparison
        assert tg.memory()["reads"] - before <= 1


def test_along_an_axis() -> None:
    table = REAL.reshape(4, 6)
    for axis in (0, 1, None):
        same(special.softmax, table, axis=axis)
        same(special.log_softmax, table, axis=axis)
        same(special.logsumexp, table, axis=axis)
    same(special.logsumexp, REAL, b=POSITIVE)
    same(special.logsumexp, REAL, b=np.flip(REAL).copy(), return_sign=True, tol=1e-4)
