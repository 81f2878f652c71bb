"""What `import tabgpu` brings and what it leaves for later: chapters, display, NumPy's dispatch, NumPy itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tabgpu as tg
from tabgpu import chapters

PACKAGE = Path(tg.__file__).parent
LATER = {
    "display",
    "dispatch",
    "interop",
    "profiling",
    "profile_report",
    "bridge_native",
    "special",
    "aio",
    "lax",
    "linalg",
    "random",
}


def promised() -> dict[str, tuple[str, str]]:
    """name -> (chapter, name there) of what type checkers are told that __getattr__ finds."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If))
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names:
            if alias.name == "*":
                names = import_module(f"tabgpu.{node.module}").__all__
                found |= {name: (node.module, name) for name in names}
            else:
                found[alias.asname or alias.name] = (node.module, alias.name)
    return found


def test_the_table_of_chapters_is_what_type_checkers_are_told() -> None:
    ours = {name: (chapter, chapters.RENAMED.get(name, name)) for name, chapter in chapters.WHERE.items()}
    assert ours == promised()


@pytest.mark.parametrize("name", sorted(chapters.WHERE))
def test_each_name_is_its_chapters(name: str) -> None:
    found = getattr(import_module(f"tabgpu.{chapters.WHERE[name]}"), chapters.RENAMED.get(name, name))
    assert getattr(tg, name) is found


def test_dir_and_star() -> None:
    everything: dict[str, object] = {}
    exec("from tabgpu import *", everything)
    for name in (*chapters.WHERE, *chapters.MODULES, "Array", "asarray", "sin", "float32", "init"):
        assert name in dir(tg)
        assert name.startswith("_") or everything[name] is getattr(tg, name)
    with pytest.raises(AttributeError, match="no attribute 'nowhere'"):
        tg.nowhere  # noqa: B018


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_brings_little() -> None:
    """Measured: 60 modules of ours where all would be more than 110. NumPy comes with the first host value."""
    loaded = fresh("import sys, tabgpu; print(*sys.modules)").split()
    assert "numpy" not in loaded
    ours = {m.removeprefix("tabgpu.") for m in loaded if m.startswith("tabgpu.")}
    early = ours & ({c for c in chapters.CHAPTERS if c != "interop"} | LATER)
    assert not early
    assert len(ours) <= 75, sorted(ours)


def test_late_methods() -> None:
    """A method that is not there yet comes with the first use, from an instance, the class, hasattr or copy."""
    code = """
import sys, tabgpu as tg
a = tg.Array
assert "tabgpu.ops.scans" not in sys.modules
assert a.cumsum.__name__ == "cumsum" and "tabgpu.ops.scans" in sys.modules
assert hasattr(a, "__array_ufunc__") and "tabgpu.dispatch" in sys.modules
assert callable(a.__repr__) and a.__repr__.__module__ == "tabgpu.display"
assert not any(type(v).__name__ == "Late" for k, v in vars(a).items() if k in ("cumsum", "__str__", "__format__"))
print("well")
"""
    assert fresh(code) == "well"
