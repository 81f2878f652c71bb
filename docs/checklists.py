"""The checklists of docs/checklists.toml: their rows, and the tests that name an id. For features.md and its tests."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ID = re.compile(r"\b(?:(?:OX|HZ|TF)-\d\d|RM-[a-z]\w*)\b")
IN_NAME = re.compile(r"(?<![a-z])(ox|hz|tf)_(\d\d)(?!\d)")
FOLDERS = ("browser", "unit", "torch", "property", "sci", "site")
RARE = {"slow", "big", "gpu"}  # marks of tests that do not run by default


class Item(NamedTuple):
    """A row: what the other system calls it, the names here (below `tg`, with blanks between), what differs, and where
    it runs: on the GPU, on the host (numbers of the host alone), as metadata, or nowhere (what replaces it is in the
    remark)."""

    id: str
    what: str
    names: str
    remark: str
    where: str = "GPU"


def lists() -> dict[str, list[Item]]:
    """The rows of each checklist, in order."""
    found = tomllib.loads((ROOT / "docs/checklists.toml").read_text("utf-8"))
    return {name: [Item(k, *row) for k, row in rows.items()] for name, rows in found.items()}


def ids_of(test: ast.FunctionDef | ast.AsyncFunctionDef, tables: dict[str, set[str]]) -> set[str]:
    """Ids in a test's name, in the first paragraph of its docstring, and of the parameters it is given."""
    found = {f"{a.upper()}-{n}" for a, n in IN_NAME.findall(test.name)}
    found |= set(ID.findall((ast.get_docstring(test) or "").split("\n\n")[0]))
    for decorator in test.decorator_list:
        found |= ids_in(decorator)
        for node in ast.walk(decorator):
            if isinstance(node, ast.Name):
                found |= tables.get(node.id, set())
    return found


def marks_of(test: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {d.attr for d in test.decorator_list if isinstance(d, ast.Attribute)}


def ids_in(tree: ast.AST) -> set[str]:
    """Ids at the start of a tree's strings."""
    texts = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return {match.group() for text in texts if (match := ID.match(text))}


def tests_by_id() -> dict[str, list[str]]:
    """For each id the tests that name it and run by default, as FILE::NAME."""
    found: dict[str, list[str]] = {}
    for path in sorted(p for folder in FOLDERS for p in (ROOT / "tests" / folder).glob("test_*.py")):
        text = path.read_text("utf-8")
        if not (ID.search(text) or IN_NAME.search(text)):
            continue
        tree = ast.parse(text)
        tables: dict[str, set[str]] = {}
        for node in tree.body:
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            for target in targets:
                if isinstance(target, ast.Name):
                    tables[target.id] = ids_in(node)
        for node in ast.walk(tree):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or RARE & marks_of(node):
                continue
            if node.name.startswith("test_"):
                for k in ids_of(node, tables):
                    found.setdefault(k, []).append(f"{path.name}::{node.name}")
    return found


TITLES = {
    "oxicuda": "oxicuda-webgpu, a compute backend of buffer handles",
    "hanzo": "hanzo-ml, a wgpu backend of tensors",
    "tenferro": "tenferro-gpu, the vocabulary of XLA",
    "runmat": "runmat-accelerate, the 200 operations of a provider for MATLAB programs",
}


def sections() -> Iterator[str]:
    """The lines of features.md."""
    tests = tests_by_id()
    for name, items in lists().items():
        yield from ("", f"## Beside {TITLES[name]}", "")
        yield "Every row is done, or its note says what replaces it; a test names its id; none falls back to the CPU."
        yield ""
        placed = any(item.where != "GPU" for item in items)
        yield f"| id | what it is there | here |{' where |' if placed else ''} note | tests |"
        yield f"|---|---|---|{'---|' if placed else ''}---|---|"
        for item in items:
            here = ", ".join(f"`{n}`" for n in item.names.split())
            where = ", ".join(sorted({t.split("::")[0] for t in tests.get(item.id, [])}))
            place = f" {item.where} |" if placed else ""
            yield f"| {item.id} | {item.what} | {here} |{place} {item.remark} | {where} |"
