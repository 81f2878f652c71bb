"""What follows a product within its launch: alpha, beta * c, bias, scales of rows and columns, limits, activation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import Array, view
from ..dtypes import DType
from ..layout import broadcast_to
from ..ops import elementwise as ew
from ..ops.creation import astype
from ..ops.manipulation import expand_dims
from ..ops.rearranging import prepare

ACTIVATIONS = (
    "celu", "elu", "gelu", "gelu_tanh", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish",
    "relu", "relu6", "selu", "sigmoid", "silu", "softplus", "softsign", "tanh", "tanhshrink",
)  # fmt: skip


def activation_of(name: str | Callable[[Array], Array], where: str) -> Callable[[Array], Array]:
    """An elementwise function of an array: one of tg.nn by name, or a function that is called as it is."""
    if callable(name):
        return name
    if name not in ACTIVATIONS:
        raise ValueError(f"{where}: activation {name!r} is none of {', '.join(ACTIVATIONS)}")
    from ..nn import activations

    found: Callable[[Array], Array] = getattr(activations, name)
    return found


def is_number(value: Any, number: int) -> bool:
    """Whether a scalar argument is a host number equal to this one; never of an Array, which would have to be read."""
    return not isinstance(value, Array) and bool(value == number)


def scaled(x: Array, alpha: Any, where: str) -> Array:
    """alpha * x in x's dtype; alpha is a number or a 0-d Array."""
    if is_number(alpha, 1):
        return x
    return ew.multiply(x, scalar(alpha, x.dtype, where))


def scalar(value: Any, dtype: DType, where: str) -> Any:
    """A factor that does not change the dtype of what it multiplies."""
    if isinstance(value, Array):
        if value.ndim:
            raise ValueError(f"{where}: a factor is a number or a 0-d array, its shape is {value.shape}")
        return astype(value, dtype, copy=False)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar
    if isinstance(value, complex) and dtype.kind != "c":
        raise TypeError(f"{where}: {value} is complex, the product is {dtype.name}")
    if isinstance(value, float) and dtype.kind in "iub":
        raise TypeError(f"{where}: {value} is a float, the product is {dtype.name}")
    return value


def plus_beta(made: Array, beta: Any, c: Any, where: str) -> Array:
    """made + beta * c. For beta = 0, c is not read: NaN in it stays there; a 0-d Array of 0 gives the same."""
    if c is None or is_number(beta, 0):
        return made
    old = astype(fitting(c, made.shape, where, "c"), made.dtype, copy=False)
    add = scaled(old, beta, where)
    if isinstance(beta, Array):
        add = ew.where(ew.equal(scalar(beta, made.dtype, where), 0), 0, add)
    return ew.add(made, add)


def fitting(x: Any, shape: tuple[int, ...], where: str, what: str) -> Array:
    """x as an Array that broadcasts to a shape; ValueError naming both."""
    x = prepare(x, where)
    try:
        return view(x, broadcast_to(x._layout, shape))
    except ValueError:
        raise ValueError(f"{where}: {what} of shape {x.shape} does not broadcast to {shape}") from None


def finished(
    made: Array,
    where: str,
    *,
    bias: Any = None,
    bias_axis: int = -1,
    row_scale: Any = None,
    row_op: str = "multiply",
    column_scale: Any = None,
    column_op: str = "multiply",
    clamp: Any = None,
    power: Any = None,
    activation: Any = None,
) -> Array:
    """made (.., m, n) with a bias (of n, or of m for bias_axis=-2), rows and columns multiplied or divided by vectors
    of m and n, limited, raised to a power, through an activation; in this order."""
    if bias is not None:
        made = ew.add(made, _vector(bias, made, bias_axis, where, "bias"))
    for scale, how, axis, what in (
        (row_scale, row_op, -2, "row_scale"),
        (column_scale, column_op, -1, "column_scale"),
    ):
        if scale is None:
            continue
        if how not in ("multiply", "divide"):
            raise ValueError(f"{where}: {what.split('_')[0]}_op is 'multiply' or 'divide', not {how!r}")
        by = _vector(scale, made, axis, where, what)
        made = ew.multiply(made, by) if how == "multiply" else ew.divide(made, by)
    if clamp is not None:
        low, high = clamp
        made = made if low is None and high is None else ew.clip(made, low, high)
    if power is not None:
        made = ew.power(made, power)
    done: Array = made if activation is None else activation_of(activation, where)(made)
    return done


def _vector(x: Any, made: Array, axis: int, where: str, what: str) -> Array:
    """A vector along one of the last two axes of a product, in the product's dtype."""
    v = prepare(x, where)
    if axis not in (-1, -2):
        raise ValueError(f"{where}: bias_axis is -1 (a value a column) or -2 (a value a row), not {axis}")
    n = made.shape[axis]
    if not v.ndim or v.shape[-1] not in (1, n):
        raise ValueError(f"{where}: {what} of shape {v.shape} needs {n} values, the product is {made.shape}")
    v = astype(v, made.dtype, copy=False)
    v = expand_dims(v, axis=-1) if axis == -2 else expand_dims(v, axis=-2) if v.ndim > 1 else v
    fitting(v, made.shape, where, what)
    return v
