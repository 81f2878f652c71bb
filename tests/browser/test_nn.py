"""Activation functions of tabgpu.nn against float64 formulas of torch.nn.functional's. Runs in the tab."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from ulps import SPECIAL, check, check_row, sweep

import tabgpu as tg
from tabgpu import nn
from tabgpu.nn import activations
from tabgpu.ops.rows import Row

SHARED = (
    "multiply",
    "negative",
    "tanh",
    "sigmoid",
    "expit",
    "logsigmoid",
    "log_expit",
)  # rows of other tables
ROWS = {r.name: r for n, r in vars(activations).items() if isinstance(r, Row) and n not in SHARED}


def gate(x: Any, g: Any) -> Any:
    """x * g, with -0 at -inf, where the gate has closed."""
    return np.where(np.isneginf(x), -0.0, x * g)


def gelu_tanh(x: Any) -> Any:
    c = np.clip(x, -40, 40)
    return gate(x, sp.expit(2 * np.sqrt(2 / np.pi) * (c + 0.044715 * c**3)))


def mish(x: Any) -> Any:
    """x tanh(log(1 + e^x)) as (n / (n + 2)), n = e^x (e^x + 2)."""
    e = np.exp(np.minimum(x, 40))
    n = e * (e + 2)
    return gate(x, n / (n + 2))


def tanhshrink(x: Any) -> Any:
    """x - tanh(x), by its series near 0."""
    z = np.where(np.abs(x) < 0.3, x, 0)
    terms = [1 / 3, -2 / 15, 17 / 315, -62 / 2835, 1382 / 155925, -21844 / 6081075, 929569 / 638512875]
    series = z**3 * sum(c * z ** (2 * k) for k, c in enumerate([*terms, -6404582 / 10854718875]))
    return np.where(np.abs(x) < 0.3, series, x - np.tanh(x))


def keep_nan(x: Any, r: Any) -> Any:
    return np.where(np.isnan(x), x, r)


def elu(x: Any, a: Any) -> Any:
    return np.where(x < 0, a * np.expm1(np.minimum(x, 0)), x)


ORACLES: dict[str, Any] = {
    "relu": lambda x: keep_nan(x, np.where(x > 0, x, 0)),
    "relu6": lambda x: keep_nan(x, np.where(x > 0, np.minimum(x, 6), 0)),
    "selu": lambda x: 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717),
    "silu": lambda x: gate(x, sp.expit(x)),
    "mish": mish,
    "softsign": lambda x: np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x))),
    "tanhshrink": tanhshrink,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hardswish": lambda x: gate(x, np.clip(x + 3, 0, 6) / 6),
    "gelu_erf": lambda x: gate(x, sp.ndtr(x)),
    "gelu_tanh": gelu_tanh,
    "leaky_relu": lambda x, a: np.where(x < 0, a * x, x),
    "elu": elu,
    "celu": lambda x, a: np.where(x < 0, a * np.expm1(np.minimum(x, 0) / a), x),
    "hardshrink": lambda x, a: np.where((x >= -a) & (x <= a), 0, x),
    "softshrink": lambda x, a: keep_nan(x, np.where(x > a, x - a, np.where(x < -a, x + a, 0))),
    "silu_mul": lambda x, y: gate(x, sp.expit(x)) * y,
    "hardtanh": lambda x, lo, hi: keep_nan(x, np.where(x < lo, lo, np.where(x > hi, hi, x))),
    "threshold": lambda x, t, v: keep_nan(x, np.where(x > t, x, v)),
    "softplus_torch": lambda x, b, t: np.where(x * b > t, x, np.logaddexp(0, x * b) / b),
}  # fmt: skip

# Operands where the ULP of the row is promised; all of float32 for those not named.
WHOLE: dict[str, Any] = {
    "gelu_tanh": lambda x: np.where(x < -3, 400, 24),
    **dict.fromkeys(["leaky_relu", "elu", "celu", "softshrink", "silu_mul", "softplus_torch"]),
}


@pytest.mark.parametrize("name", sorted(set(ROWS) - {"affine"}))
async def test_row(name: str) -> None:
    row = ROWS[name]
    await check_row(row, ORACLES[name], row.ulp, WHOLE.get(name, row.ulp))


# (function of the public namespace, oracle, ULP) with torch's defaults and with other parameters.
CALLS: dict[str, tuple[Any, Any, float]] = {
    "leaky_relu": (nn.leaky_relu, lambda x: ORACLES["leaky_relu"](x, np.float32(0.01)), 1),
    "leaky_relu slope": (lambda x: nn.leaky_relu(x, 0.25), lambda x: ORACLES["leaky_relu"](x, 0.25), 1),
    "elu": (nn.elu, lambda x: elu(x, 1.0), 3),
    "elu alpha": (lambda x: nn.elu(x, alpha=0.5), lambda x: elu(x, 0.5), 3),
    "celu": (nn.celu, lambda x: elu(x, 1.0), 6),
    "celu alpha": (lambda x: nn.celu(x, 2.0), lambda x: ORACLES["celu"](x, 2.0), 6),
    "gelu": (nn.gelu, ORACLES["gelu_erf"], 10),
    "gelu none": (lambda x: nn.gelu(x, "none"), ORACLES["gelu_erf"], 10),
    "hardtanh": (nn.hardtanh, lambda x: np.clip(x, -1, 1), 0),
    "hardtanh range": (lambda x: nn.hardtanh(x, -2, 0.5), lambda x: np.clip(x, -2, 0.5), 0),
    "hardshrink": (nn.hardshrink, lambda x: ORACLES["hardshrink"](x, 0.5), 0),
    "hardshrink lambd": (lambda x: nn.hardshrink(x, 2.0), lambda x: ORACLES["hardshrink"](x, 2), 0),
    "softshrink": (nn.softshrink, lambda x: ORACLES["softshrink"](x, 0.5), 1),
    "softshrink 0": (lambda x: nn.softshrink(x, 0.0), lambda x: ORACLES["softshrink"](x, 0), 1),
    "threshold": (
        lambda x: nn.threshold(x, 0.1, 20),
        lambda x: ORACLES["threshold"](x, np.float32(0.1), 20),
        0,
    ),
    "softplus": (nn.softplus, lambda x: ORACLES["softplus_torch"](x, 1, 20), 5),
    "softplus beta": (lambda x: nn.softplus(x, 2, 10), lambda x: ORACLES["softplus_torch"](x, 2, 10), 5),
    "sigmoid": (nn.sigmoid, sp.expit, 6),
    "logsigmoid": (nn.logsigmoid, sp.log_expit, 5),
    "tanh": (nn.tanh, np.tanh, 3),
}


@pytest.mark.parametrize("name", sorted(CALLS))
async def test_call_over_all_of_float32(name: str) -> None:
    f, oracle, ulp = CALLS[name]
    x = np.concatenate(
        [SPECIAL, sweep(), np.random.default_rng(1).uniform(-25, 25, 20000).astype(np.float32)]
    )
    check(name, oracle, ulp, await f(x).numpy(), [x])


@pytest.mark.parametrize("name", sorted(set(CALLS) | {n for n in ROWS if ROWS[n].nin == 1}))
async def test_issue_bank_n07_n08_saturates(name: str) -> None:
    """Finite at +-20, +-88, +-89, +-1000, no NaN at +-inf, NaN for NaN."""
    f = CALLS[name][0] if name in CALLS else ROWS[name]
    finite = np.float32([20, -20, 88, -88, 89, -89, 100, -100, 1000, -1000, 0])
    a, b, c = await tg.fetch(f(finite), f(np.float32([np.inf, -np.inf])), f(np.float32([np.nan])))
    assert np.isfinite(a).all() and not np.isnan(b).any() and np.isnan(c).all(), (name, a, b, c)


async def test_integers_stay_integers_where_torch_keeps_them() -> None:
    i = np.array([-(2**31), -7, 0, 3, 6, 7, 2**31 - 1], np.int32)
    u = np.array([0, 3, 6, 7, 2**32 - 1], np.uint32)
    got = await tg.fetch(
        nn.relu(i), nn.relu(u), nn.relu6(i), nn.relu6(u), nn.threshold(i, 3, -5), nn.affine(i, 3, -1)
    )
    want = [
        np.maximum(i, 0),
        u,
        np.clip(i, 0, 6),
        np.minimum(u, 6),
        np.where(i > 3, i, -5),
        i * np.int32(3) - np.int32(1),
    ]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    assert (await nn.sigmoid(i).numpy()).dtype == np.float32
    with pytest.raises(TypeError, match="relu"):
        nn.relu(np.array([True]))


async def test_affine() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 33, 5)).astype(np.float32)
    z = rng.standard_normal(5).astype(np.float32)
    got, scalars = await tg.fetch(nn.affine(x, y, z), nn.affine(tg.asarray(x), 0.5, -3))
    scale = np.abs(x * y) + np.abs(z)
    assert (np.abs(got - (x.astype(np.float64) * y + z)) <= 2.0**-23 * scale).all()
    check("affine", lambda x: x * 0.5 - 3, 1, scalars, [x])


@pytest.mark.parametrize(
    ("x", "weight"),
    [
        ((7,), (1,)),
        ((4, 3), (3,)),
        ((2, 3, 4, 5), (3,)),
        ((2, 3, 5), (1,)),
        ((), (1,)),
        ((0, 3), (3,)),
        ((4, 3), ()),
    ],
)
async def test_prelu(x: tuple[int, ...], weight: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    a, w = rng.standard_normal(x).astype(np.float32), rng.standard_normal(weight).astype(np.float32)
    wide = w.reshape(()) if w.size == 1 else w.reshape((-1,) + (1,) * (len(x) - 2))
    got = await nn.prelu(a, w).numpy()
    np.testing.assert_allclose(got, np.where(a < 0, wide * a, a), rtol=1e-6)
    assert got.shape == x


async def test_prelu_refuses_a_weight_of_another_size() -> None:
    with pytest.raises(ValueError, match=r"\(2,\).*3"):
        nn.prelu(np.zeros((4, 3), np.float32), np.zeros(2, np.float32))


@pytest.mark.parametrize(
    ("shape", "dim"), [((6,), -1), ((3, 8), -1), ((4, 3), 0), ((2, 6, 5), 1), ((0, 4), 1), ((5, 2), -1)]
)
async def test_glu(shape: tuple[int, ...], dim: int) -> None:
    x = np.random.default_rng(6).standard_normal(shape).astype(np.float32) * 4
    a, b = np.split(x.astype(np.float64), 2, axis=dim)
    got = await nn.glu(x, dim).numpy()
    np.testing.assert_allclose(got, a * sp.expit(b), rtol=1e-6)


def test_glu_refuses_odd_sizes_and_bad_axes() -> None:
    with pytest.raises(ValueError, match="odd size 3"):
        nn.glu(np.zeros((2, 3), np.float32))
    with pytest.raises(IndexError, match="dim 2"):
        nn.glu(np.zeros((2, 4), np.float32), 2)


def test_bad_parameters() -> None:
    x = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="approximate"):
        nn.gelu(x, "fast")
    with pytest.raises(ValueError, match="lambd"):
        nn.softshrink(x, -1.0)
    with pytest.raises(ValueError, match="alpha"):
        nn.celu(x, 0.0)


async def test_parameters_compile_nothing_new() -> None:
    x = tg.asarray(np.random.default_rng(7).standard_normal(100).astype(np.float32))
    await nn.elu(nn.leaky_relu(x, 0.1), 0.2).numpy()
    before = tg.device().counters.pipelines
    outs = [nn.elu(nn.leaky_relu(x, 0.1 + k / 100), k / 7) for k in range(50)]
    got = await tg.fetch(*outs[:5])
    for k in range(5, 50):
        await outs[k].numpy()
    assert len(got) == 5
    assert tg.device().counters.pipelines <= before + 1  # five results at once are one kernel of their own


async def test_array_parameters_broadcast() -> None:
    x = np.random.default_rng(8).standard_normal((3, 4)).astype(np.float32)
    alpha = np.float32([[0.5], [1.0], [2.0]])
    check("elu", elu, 3, await nn.elu(tg.asarray(x), tg.asarray(alpha)).numpy(), [x, alpha])


async def test_a_chain_of_activations_is_one_launch() -> None:
    x = tg.asarray(np.random.default_rng(9).standard_normal(1000).astype(np.float32))
    await tg.synchronize()
    before = tg.device().counters.launches
    await nn.silu(nn.gelu(nn.mish(x) * 2) + 1).numpy()
    assert tg.device().counters.launches - before == 1
