"""scipy.signal on the GPU: each part is imported when one of its names is first used (PEP 562)."""

from __future__ import annotations

from typing import Any

PARTS = {
    "filtering": "detrend filtfilt lfilter lfilter_zi lfiltic sosfilt sosfilt_zi sosfiltfilt",
}  # fmt: skip
MODULES: tuple[str, ...] = ()
WHERE = {name: part for part, names in PARTS.items() for name in names.split()}
__all__ = sorted([*WHERE, *MODULES])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in MODULES:
        return import_module(f".{name}", __name__)
    if name not in WHERE:
        raise AttributeError(f"module 'tabgpu.signal' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{WHERE[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
