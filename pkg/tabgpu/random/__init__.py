"""Random numbers from counters: a key and a position give a word (Philox4x32-10), whatever launch computes it.

Functions take a key and keep no state: the same key gives the same values on every adapter and host, so a program makes
as many keys as it needs (`split`, `fold_in`). `default_rng` is NumPy's Generator on top: a key and a position that goes
on. Values are made inside the kernel that uses them; a new seed compiles nothing. A function under tg.jit takes a seed
or a step as a number, or a key as an array (`tg.asarray(key, dtype="uint32")`): a Key itself would be traced anew.
`key(seed, "threefry2x32")` and `Generator(Threefry(seed))` take words of Threefry2x32-20 instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .keys import Key, fold_in, key, split
from .values import bernoulli, bits, integers, normal, uniform
from .values import open_unit as open_unit

if TYPE_CHECKING:
    from .functions import (
        beta,
        binomial,
        categorical,
        cauchy,
        chisquare,
        choice,
        dirichlet,
        exponential,
        f,
        gamma,
        geometric,
        geometric_brownian,
        gumbel,
        laplace,
        loggamma,
        logistic,
        lognormal,
        multinomial,
        multivariate_normal,
        pareto,
        permutation,
        poisson,
        rademacher,
        rayleigh,
        t,
        triangular,
        truncated_normal,
        wald,
        weibull_min,
    )  # fmt: skip
    from .generator import BitGenerator, Generator, Philox, SeedSequence, Threefry, default_rng

_GENERATOR = ("BitGenerator", "Generator", "Philox", "SeedSequence", "Threefry", "default_rng")
__all__ = [
    "BitGenerator", "Generator", "Key", "Philox", "SeedSequence", "Threefry", "bernoulli", "beta", "binomial",
    "bits", "categorical", "cauchy", "chisquare", "choice", "default_rng", "dirichlet", "exponential", "f",
    "fold_in", "gamma", "geometric", "geometric_brownian", "gumbel", "integers", "key", "laplace", "loggamma",
    "logistic", "lognormal", "multinomial", "multivariate_normal", "normal", "pareto", "permutation", "poisson",
    "rademacher", "rayleigh", "split", "t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Generators and most distributions are imported at their first use (PEP 562)."""
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'tabgpu.random' has no attribute {name!r}")
    part = "generator" if name in _GENERATOR else "functions"
    found = globals()[name] = getattr(import_module(f".{part}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
