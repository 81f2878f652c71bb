"""docs/features.md is what the tables print, and each of its names is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import tabgpu as tg
import tabgpu.nn
import tabgpu.random
import tabgpu.special

DOCS = Path(__file__).resolve().parents[2] / "docs"


def printed() -> str:
    spec = importlib.util.spec_from_file_location("print_features", DOCS / "print_features.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.text()  # type: ignore[no-any-return]


def test_the_page_is_up_to_date() -> None:
    again = "python docs/print_features.py > docs/features.md"
    assert (DOCS / "features.md").read_text("utf-8") == printed(), f"out of date: {again}"


def test_every_public_function_is_listed() -> None:
    text = (DOCS / "features.md").read_text("utf-8")
    listed = set(re.findall(r"`(\w+)(?:`|\()", text))
    for module in (tg, tabgpu.special, tabgpu.random, tabgpu.nn):
        for name in getattr(module, "__all__", vars(module)):
            value = getattr(module, name)
            if name.startswith("_") or not callable(value) or isinstance(value, type):
                continue
            if getattr(value, "__module__", "").startswith("tabgpu"):
                assert name in listed, f"{name} of {module.__name__} is not in docs/features.md"


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([\w.]+)\)", (DOCS / "features.md").read_text("utf-8")):
        assert (DOCS / target).is_file(), target
