"""Starts the `tabgpu` command without importing the in-browser modules: the host needs only tabgpu.host."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path


def without_core() -> None:
    """Make `tabgpu` a package whose own __init__ is not run, so that `tabgpu.host` loads alone and quickly."""
    if "tabgpu" not in sys.modules:
        spec = importlib.machinery.ModuleSpec("tabgpu", None, is_package=True)
        spec.submodule_search_locations = [str(Path(__file__).resolve().parent / "tabgpu")]
        sys.modules["tabgpu"] = importlib.util.module_from_spec(spec)


def main() -> None:
    without_core()
    from tabgpu.host.cli import main as command

    command()


if __name__ == "__main__":
    main()
