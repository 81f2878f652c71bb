"""How arrays are shown: repr, str, format and rich display, as NumPy shows them. None of these but `format` raises.

Of a large array only what is printed is read: its corners, through one view.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from . import engine
from .array import Array, view
from .dtypes import bfloat16
from .layout import Layout

if TYPE_CHECKING:
    import numpy as np

MESSAGE = 300  # characters of an error that are shown


def array_repr(a: Array) -> str:
    """NumPy's repr of the values where Python can wait for them; else shape, dtype and the `await` to write."""
    return _guarded(a, _repr)


def array_str(a: Array) -> str:
    """NumPy's str of the values where Python can wait for them; else as array_repr."""
    return _guarded(a, _str)


def _guarded(a: Array, show: Any) -> str:
    what = f"<tabgpu.Array shape={a.shape} dtype={a.dtype.name}"
    try:
        if engine.can_suspend():
            return show(a)  # type: ignore[no-any-return]
    except Exception as error:  # display never raises: it says what is wrong instead
        message = f"{type(error).__name__}: {error}"
        return f"{what}: {message if len(message) <= MESSAGE else message[: MESSAGE - 4] + ' ...'}>"
    return f"{what}; read it with `await a.numpy()`>"


def _read(a: Array) -> np.ndarray[Any, Any]:
    return engine.wait_for(a.numpy(), "repr", "await a.numpy()")  # type: ignore[no-any-return]


def _numpy() -> Any:
    try:
        import numpy
    except ModuleNotFoundError:
        return None
    return numpy


def _repr(a: Array) -> str:
    np = _numpy()
    if np is None:
        values = f"{_plain(a)}, " if a.size else f"[], shape={a.shape}, "
        return f"array({values}dtype={a.dtype.name})"
    options = np.get_printoptions()
    if a.size <= options["threshold"]:
        text = str(np.array_repr(_read(a)))
        return text.replace("dtype=float32", "dtype=bfloat16") if a.dtype is bfloat16 else text
    # What follows the values differs between NumPy's versions: taken from a line without memory that is summarised too.
    line = np.broadcast_to(
        np.zeros((), "float32" if a.dtype is bfloat16 else a.dtype.name), (options["threshold"] + 1,)
    )
    tail = re.sub(r"\s+", " ", np.array_repr(line).rpartition("]")[2]).removeprefix(", ").removesuffix(")")
    tail = tail.replace(f"shape={line.shape}", f"shape={a.shape}")
    if a.dtype is bfloat16:
        tail = tail.replace("dtype=float32", "dtype=bfloat16")
    body = np.array2string(
        _corners(a, options["edgeitems"]), separator=", ", prefix="array(", suffix=")", threshold=0
    )
    text = f"array({body}"
    if not tail:
        return text + ")"
    room = options["linewidth"] - (len(text) - text.rfind("\n"))
    return f"{text},{' ' if len(tail) + 2 <= room else chr(10) + ' ' * 6}{tail})"


def _str(a: Array) -> str:
    np = _numpy()
    if np is None:
        return str(_plain(a))
    options = np.get_printoptions()
    if a.size <= options["threshold"]:
        return str(_read(a))
    return str(np.array2string(_corners(a, options["edgeitems"]), separator=" ", threshold=0))


def _plain(a: Array) -> Any:
    """Nested lists, where NumPy is not installed; of a large array its corners."""
    if a.size <= 1000:
        return engine.wait_for(a.tolist(), "repr", "await a.tolist()")
    return "..."


def _corners(a: Array, edge: int) -> np.ndarray[Any, Any]:
    """An array that is printed as `a` is when summarised: of each long axis the first and the last `edge` elements, and
    one between them that stands for the rest. Each such axis is seen as (2, edge), so that one read brings all."""
    import numpy as np

    shape: list[int] = []
    strides: list[int] = []
    target: list[int] = []
    long = [k for k, n in enumerate(a.shape) if n > 2 * edge]
    for k, (n, s) in enumerate(zip(a.shape, a._layout.strides, strict=True)):
        shape += [2, edge] if k in long else [n]
        strides += [(n - edge) * s, s] if k in long else [s]
        target.append(2 * edge if k in long else n)
    host = _read(view(a, Layout(tuple(shape), tuple(strides), a._layout.offset))).reshape(target)
    for k in long:
        host = np.insert(host, edge, 0, axis=k)
    return host


def array_format(a: Array, spec: str) -> str:
    """`f"{a:.3f}"` of an array without axes formats its value, as NumPy; SyncError where Python cannot wait for it."""
    if not spec:
        return array_str(a)
    if a.shape:
        raise TypeError(f"unsupported format string {spec!r} for a tabgpu.Array of shape {a.shape}")
    return format(
        engine.wait_for(a.item(), f"format(a, {spec!r})", f"format(await a.item(), {spec!r})"), spec
    )


def array_html(a: Array) -> str:
    """The values as preformatted HTML under a line of facts; everything is escaped."""
    shape = " × ".join(str(n) for n in a.shape) or "scalar"
    return (
        f"<div><small>tabgpu.Array {escape(shape)}, {escape(a.dtype.name)}, {a.nbytes:,} bytes</small>"
        f"<pre>{escape(array_str(a))}</pre></div>"
    )


def mimebundle(a: Array, include: Any = None, exclude: Any = None) -> dict[str, str]:
    """What IPython shows: the repr as text, and as HTML."""
    makers = {"text/plain": array_repr, "text/html": array_html}
    wanted = set(makers if include is None else include) - set(exclude or ())
    return {kind: make(a) for kind, make in makers.items() if kind in wanted}


Array.__repr__ = array_repr  # type: ignore[assignment, method-assign]
Array.__str__ = array_str  # type: ignore[assignment, method-assign]
Array.__format__ = array_format  # type: ignore[assignment, method-assign]
Array._repr_html_ = array_html  # type: ignore[attr-defined]
Array._repr_mimebundle_ = mimebundle  # type: ignore[attr-defined]
