"""Numbers of the host as arguments: a function of this package reads no array of the GPU to find one; callers do."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

_PACKAGE = __name__.partition(".")[0]
_INDEXING = ("getitem", "setitem", "getitem_async")  # whose bounds may be arrays without axes, as in NumPy


def refuse(x: Any) -> None:
    """TypeError where this package's own code, and not its caller's, asks for the value of x: x was given where a
    number of the host is meant, and nothing is read to find out. Names the function called and the argument."""
    frame: FrameType | None = sys._getframe(1)
    inner = frame
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        if "<" not in frame.f_code.co_qualname:
            inner = frame
        frame = frame.f_back
    assert inner is not None
    code, given = inner.f_code, inner.f_locals
    if code.co_name in _INDEXING:
        return
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags >> 2 & 1) + (code.co_flags >> 3 & 1)
    names = code.co_varnames[:count]
    found = [n for n in names if _holds(given.get(n), x)]
    if found[:1] == ["self"]:  # float(x) itself
        return
    # else something made of it: then it is probably the one without axes
    found += [n for n in names if type(given.get(n)) is type(x) and not given[n].shape]
    where = code.co_qualname.removesuffix(".__init__").removesuffix("_async")
    what = f"{found[0]} is" if found else "an argument should be"
    raise TypeError(
        f"{where}: {what} a number of the host: an array on the GPU is not read for it; give what "
        f"`await {found[0] if found else 'it'}.item()` reads"
    )


def _holds(value: Any, x: object) -> bool:
    if isinstance(value, dict):
        value = tuple(value.values())
    return value is x or (isinstance(value, (list, tuple)) and any(_holds(v, x) for v in value))
