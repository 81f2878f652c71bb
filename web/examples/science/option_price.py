"""The price of a European call option by simulation, with a confidence interval, and by Black and Scholes' formula."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import tabgpu as tg

WITHIN = 1.959964  # standard deviations of a normal distribution about its mean: 95 % of it


class Call(NamedTuple):
    """The right to buy a share for `strike` in some years. Its price moves as geometric Brownian motion."""

    spot: float = 100.0  # the share's price today
    strike: float = 105.0
    rate: float = 0.03  # interest, a year
    volatility: float = 0.2  # a year
    years: float = 1.0


def formula(call: Call) -> float:
    """Black and Scholes' price, on the host in float64."""
    spread = call.volatility * math.sqrt(call.years)
    d1 = (math.log(call.spot / call.strike) + (call.rate + call.volatility**2 / 2) * call.years) / spread
    below = [(1 + math.erf(d / math.sqrt(2))) / 2 for d in (d1, d1 - spread)]
    return call.spot * below[0] - call.strike * math.exp(-call.rate * call.years) * below[1]


def values(call: Call, z: Any) -> Any:
    """What the option is worth today in each simulated future: z and -z are two futures, of which the mean is taken.

    The two err in opposite directions (antithetic variates), so that their mean varies less than that of any two.
    """
    drift = (call.rate - call.volatility**2 / 2) * call.years
    discount = math.exp(-call.rate * call.years)
    moved = call.volatility * math.sqrt(call.years) * z
    up, down = (tg.maximum(call.spot * tg.exp(drift + m) - call.strike, 0) for m in (moved, -moved))
    return discount / 2 * (up + down)


def estimate(x: Any) -> tuple[Any, Any]:
    """(mean, half of the width of its 95 % confidence interval)."""
    return x.mean(), WITHIN / math.sqrt(x.shape[0]) * x.std(correction=1)


def running(x: Any, points: int) -> tuple[Any, Any]:
    """The same of the first 1/points of the values, the first 2/points, and so on to all of them."""
    middle = x.mean()  # sums of differences from it stay small
    blocks = (x - middle).reshape((points, -1))
    n = tg.arange(1, points + 1, dtype=tg.float32) * blocks.shape[1]
    mean = tg.cumsum(blocks.sum(axis=1)) / n
    variance = (tg.cumsum((blocks**2).sum(axis=1)) - n * mean**2) / (n - 1)
    return middle + mean, WITHIN * tg.sqrt(variance / n)


def paths(call: Call, many: int, steps: int, seed: int = 0) -> Any:
    """Prices of the share on its way, (many, steps + 1)."""
    step = call.years / steps
    drift, scale = (call.rate - call.volatility**2 / 2) * step, call.volatility * math.sqrt(step)
    start = tg.full((many,), call.spot)
    return tg.random.geometric_brownian(tg.random.key(seed), start, drift, scale, steps, paths=True)
