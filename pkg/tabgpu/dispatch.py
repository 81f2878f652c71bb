"""NumPy's functions called with GPU arrays: `np.sin(a)`, `np.add.reduce(a)`, `np.concatenate([a, b])` are tabgpu's.

A function of the same name does the work on the GPU. What has none raises TypeError that names it: nothing is read.
"""

from __future__ import annotations

import sys
from inspect import Parameter, Signature, signature
from typing import Any

from .array import Array
from .ops import creation, elementwise
from .ops.dtype_functions import can_cast, result_type
from .ops.ufunc_arguments import store

# What NumPy may fill in by itself, and what says nothing here.
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "where": (True,), "casting": ("same_kind",), "order": ("K", None), "subok": (True,), "keepdims": (False,),
    "dtype": (None,), "signature": (None,),
}  # fmt: skip


# --- finding ours -----------------------------------------------------------------------------------------------------


def _ours(path: str) -> Any:
    """The public function of tabgpu at a dotted name, or None."""
    found: Any = sys.modules[__package__]
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if callable(found) and not isinstance(found, type) else None


def _ufunc(ufunc: Any) -> tuple[str, Any]:
    """(NumPy's or SciPy's name, our function or None) of a ufunc."""
    name = ufunc.__name__
    for module, path in (("numpy", name), ("scipy.special", f"special.{name}")):
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return f"{module}.{name}", _ours(path)
    return name, None


def _refuse(name: str, keyword: str = "") -> TypeError:
    spelled = name.replace("numpy.", "np.", 1)
    return TypeError(
        f"{name}{keyword and f' with {keyword}='} is not available for tabgpu arrays, and nothing is read silently; "
        f"on the CPU: `{spelled}(await a.numpy()" + (f", {keyword}=...)`" if keyword else ", ...)`")
    )


_signatures: dict[Any, Signature | None] = {}


def _signature(function: Any) -> Signature | None:
    if function not in _signatures:
        try:
            _signatures[function] = signature(function)
        except (TypeError, ValueError):  # some of NumPy's C functions have none
            _signatures[function] = None
    return _signatures[function]


def _call(name: str, function: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """Our function; TypeError if it does not take one of the keywords."""
    sig = _signature(function)
    if keywords and sig is not None:
        params = sig.parameters
        if not any(p.kind is Parameter.VAR_KEYWORD for p in params.values()):
            for key in keywords:
                if key not in params or params[key].kind is Parameter.POSITIONAL_ONLY:
                    raise _refuse(name, key)
    return function(*positional, **keywords)


# --- ufuncs -----------------------------------------------------------------------------------------------------------


def array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """What NumPy calls for its ufuncs and their methods: our function of that name, or its method of that name."""
    if any(_foreign(x, "__array_ufunc__") for x in inputs):
        return NotImplemented
    name, function = _ufunc(ufunc)
    if method != "__call__":
        name, function = f"{name}.{method}", getattr(function, method, None)
    if function is None:
        raise _refuse(name)
    outs = _outs(keywords.pop("out", None), name)
    keywords = {k: v for k, v in keywords.items() if not any(v is d for d in _DEFAULTS.get(k, ()))}
    if method == "at" and not isinstance(inputs[0], Array):
        raise TypeError(
            f"{name}: what it adds to is a {type(inputs[0]).__name__}, its operands are on the GPU"
        )
    if len(outs) == 1:
        keywords["out"] = outs[0]
    result = _call(name, function, list(inputs), keywords)
    return result if len(outs) < 2 else _deliver(result, outs, name)


def _outs(out: Any, name: str) -> tuple[Array | None, ...]:
    """out= as a tuple; TypeError for NumPy's own arrays, into which nothing is read silently."""
    outs = out if isinstance(out, tuple) else (out,)
    for o in outs:
        if o is not None and not isinstance(o, Array):
            raise TypeError(
                f"{name}: out= is a {type(o).__name__} but the result is on the GPU; use `await` to read it"
            )
    return () if all(o is None for o in outs) else outs


def _deliver(result: Any, outs: tuple[Array | None, ...], name: str) -> Any:
    """Results stored in what was given as out=."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    if len(results) != len(outs):
        raise ValueError(f"{name}: out= has {len(outs)} arrays, there are {len(results)} results")
    stored = [r if o is None else store(r, o, name) for r, o in zip(results, outs, strict=True)]
    return tuple(stored) if len(stored) > 1 else stored[0]


def _foreign(x: Any, protocol: str) -> bool:
    """Whether x belongs to another library that takes part in NumPy's dispatch."""
    theirs = getattr(type(x), protocol, None)
    if theirs is None or isinstance(x, Array):
        return False
    numpy = sys.modules["numpy"]
    return theirs not in (getattr(numpy.ndarray, protocol), getattr(numpy.generic, protocol, None))


# --- functions --------------------------------------------------------------------------------------------------------


def array_function(self: Array, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """What NumPy calls for its functions that are no ufuncs."""
    numpy = sys.modules["numpy"]
    for kind in types:
        if not issubclass(kind, (Array, numpy.ndarray)) and hasattr(kind, "__array_function__"):
            return NotImplemented
    name = f"{function.__module__}.{function.__name__}"
    special = SPECIAL.get(name.removeprefix("numpy."))
    if special is not None:
        return special(*args, **kwargs)
    mine = _ours(name.removeprefix("numpy."))
    if mine is None or not name.startswith("numpy."):
        raise _refuse(name)
    positional, keywords = _arguments(function, mine, args, kwargs)
    outs = _outs(keywords.pop("out", None), name)
    if outs and _takes_out(mine):
        return _call(name, mine, positional, {**keywords, "out": outs[0]})
    result = _call(name, mine, positional, keywords)
    return _deliver(result, outs, name) if outs else result


def _takes_out(function: Any) -> bool:
    sig = _signature(function)
    return sig is not None and "out" in sig.parameters


def _arguments(theirs: Any, mine: Any, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
    """NumPy's call as ours: by position what our function takes by position, by name the rest, without defaults."""
    sig, own = _signature(theirs), _signature(mine)
    if sig is None or own is None:
        return list(args), kwargs
    by_name = {n for n, p in own.parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    kinds = [p.kind for p in own.parameters.values()]
    room = len(kinds) if Parameter.VAR_POSITIONAL not in kinds else sys.maxsize
    given = sig.bind(*args, **kwargs).arguments
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    in_order = True  # no argument before was left out or given by name
    for key, param in sig.parameters.items():
        if key not in given or given[key] is param.default:
            in_order = False
        elif param.kind is Parameter.VAR_POSITIONAL:
            positional += given[key]
        elif param.kind is Parameter.VAR_KEYWORD:
            keywords.update(given[key])
        elif in_order and len(positional) < room and not (positional and key in by_name):
            positional.append(given[key])
        else:
            in_order = False
            keywords[key] = given[key]
    return positional, keywords


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **options: Any) -> Any:
    low, high = options.pop("min", a_min), options.pop("max", a_max)
    result = _call("numpy.clip", elementwise.clip, [a, *_none(low, high)], options)
    outs = _outs(out, "numpy.clip")
    return _deliver(result, outs, "numpy.clip") if outs else result


def _none(*values: Any) -> list[Any]:
    """NumPy's `<no value>` as None."""
    return [None if type(v).__name__ == "_NoValueType" else v for v in values]


def _shape(a: Any) -> tuple[int, ...]:
    return creation.asarray(a).shape


def _ndim(a: Any) -> int:
    return len(_shape(a))


def _size(a: Any, axis: Any = None) -> int:
    x = creation.asarray(a)
    if axis is None:
        return x.size
    n = 1
    for k in axis if isinstance(axis, tuple) else (axis,):
        n *= x.shape[k]
    return n


def _copy(a: Any, order: str = "K", subok: bool = False) -> Array:
    return creation.copy_of(creation.asarray(a))


def _shares(a: Any, b: Any, max_work: Any = None) -> bool:
    return isinstance(a, Array) and isinstance(b, Array) and a._cell is b._cell


def _is_complex(x: Any) -> bool:
    return bool(creation.asarray(x).dtype.kind == "c")


def _array_repr(
    arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    return _shown(repr, arr, max_line_width, precision, suppress_small)


def _array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    return _shown(str, a, max_line_width, precision, suppress_small)


def _shown(show: Any, a: Any, width: Any, precision: Any, suppress: Any) -> str:
    options = {"linewidth": width, "precision": precision, "suppress": suppress}
    with sys.modules["numpy"].printoptions(**{k: v for k, v in options.items() if v is not None}):
        return str(show(a))


def _i0(x: Any) -> Array:
    return _ours("special.i0")(x)  # type: ignore[no-any-return]


SPECIAL: dict[str, Any] = {
    "shape": _shape, "ndim": _ndim, "size": _size, "copy": _copy, "clip": _clip, "array_repr": _array_repr,
    "array_str": _array_str, "may_share_memory": _shares, "shares_memory": _shares, "iscomplexobj": _is_complex,
    "isrealobj": lambda x: not _is_complex(x), "result_type": result_type, "can_cast": can_cast,
    "i0": _i0,
}  # fmt: skip

setattr(Array, "__array_ufunc__", array_ufunc)  # noqa: B010  # mypy allows no assignment to a method
setattr(Array, "__array_function__", array_function)  # noqa: B010
