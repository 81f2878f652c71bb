"""Prints docs/features.md from the package's tables: `python docs/print_features.py > docs/features.md`."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pkg"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import checklists

import tabgpu as tg
import tabgpu.aio
import tabgpu.backend
import tabgpu.fft
import tabgpu.image
import tabgpu.interpolate
import tabgpu.lax
import tabgpu.linalg
import tabgpu.linalg.blas
import tabgpu.nn
import tabgpu.polynomial
import tabgpu.quant
import tabgpu.random
import tabgpu.signal
import tabgpu.special
import tabgpu.stats
from tabgpu import dtypes, interop, operators, runtime, sharing, showing
from tabgpu.chapters import WHERE
from tabgpu.ops import (
    calculus,
    choosing,
    comparing,
    complex_functions,
    contractions,
    creation,
    dtype_functions,
    elementwise,
    extremes,
    grids,
    histograms,
    inspecting,
    joining,
    manipulation,
    nan_functions,
    padding,
    polynomials,
    products,
    quantiles,
    ranges,
    rearranging,
    reductions,
    row_sets,
    scans,
    searching,
    sets,
    sorting,
    splitting,
    statistics,
    surfaces,
    taking,
    triangles,
)
from tabgpu.ops.rows import Row
from tabgpu.ops.ufunc_methods import Composite

einsum = import_module("tabgpu.ops.einsum")  # the name itself is the function
READING = import_module("tabgpu.array")
MEASURING = ["jit", "warmup", "profile", "telemetry", "tune"]
KINDS = {"b": "bool", "i": "int32", "u": "uint32", "f": "float32", "c": "complex64"}
LIFTED = {"float": {"b": "f", "i": "f", "u": "f"}, "int": {"b": "i"}, None: {}}
WIDE = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def first_sentence(thing: Any) -> str:
    """The first paragraph of a docstring, up to its first full stop."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    end = re.search(r"(?<!\.)\. (?=[A-Z(])", text)
    return cell(text[: end.start() + 1] if end else text)


def signature(name: str, function: Any) -> str:
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    return f"{name}({', '.join(p.name if p.kind != p.VAR_POSITIONAL else f'*{p.name}' for p in parameters)})"


def takes(row: Row) -> str:
    """Operand dtypes -> result dtypes, those that give the same together."""
    if row.operand_kinds is not None and "*" not in row.operand_kinds:
        (kind,) = row.exprs
        return (
            f"{', '.join(KINDS[k] for k in row.operand_kinds)} → {KINDS.get(made := result(row, kind), made)}"
        )
    groups: dict[str, list[str]] = {}
    for kind, name in KINDS.items():
        computed = kind if kind in row.exprs else LIFTED[row.promoted].get(kind, "")
        if computed in row.exprs:
            groups.setdefault(KINDS.get(made := result(row, computed), made), []).append(name)
    return "; ".join(f"{', '.join(names)} → {out}" for out, names in groups.items())


def result(row: Row, kind: str) -> str:
    return row.out.get(kind, kind) if isinstance(row.out, dict) else row.out or kind


def rows_of(module: ModuleType | Any) -> dict[Row, list[str]]:
    """The rows of a namespace with all their public names, the row's own first."""
    found: dict[Row, list[str]] = {}
    for name in sorted(vars(module)):
        value = getattr(module, name)
        if isinstance(value, Row) and not name.startswith("_"):
            found.setdefault(value, []).append(name)
    for row, names in found.items():
        names.sort(key=lambda n: (n != row.name, n))
    return dict(sorted(found.items(), key=lambda item: item[1][0]))


def elementwise_table(module: Any, but: set[Row] = frozenset()) -> Iterator[str]:  # type: ignore[assignment]
    yield "| function | dtypes | ULP | as | what |"
    yield "|---|---|---|---|---|"
    for row, names in rows_of(module).items():
        if row not in but:
            spelled = ", ".join(f"`{n}`" for n in names)
            ulp = f"{row.ulp:g}" if row.ulp else "exact" if "f" in row.exprs else ""
            ulp = ulp.replace("inf", "[numerics](numerics.md)")  # relative to something else
            yield f"| {spelled} | {takes(row)} | {ulp} | `{row.like}` | {cell(row.__doc__ or '')} |"


def plain(value: Any) -> bool:
    """Whether a name is a function, but no row."""
    return inspect.isfunction(value) or isinstance(value, Composite)


def functions(module: Any, names: list[str]) -> Iterator[str]:
    """A table of plain functions; names of one function in one line."""
    spelled: dict[Any, list[str]] = {}
    for name in names:
        value = getattr(module, name, None)
        if plain(value):
            spelled.setdefault(value, []).append(name)
    yield "| function | what |"
    yield "|---|---|"
    for function, several in spelled.items():
        several.sort(key=lambda n: n != function.__name__)
        also = "".join(f", `{n}`" for n in several[1:])
        yield f"| `{signature(several[0], function)}`{also} | {first_sentence(function)} |"


def public(module: ModuleType) -> list[str]:
    """Functions that the module defines and the top level has."""
    return [
        n
        for n, v in vars(module).items()
        if plain(v) and v.__module__ == module.__name__ and getattr(tg, n, None) is v
    ]


def dtype_table() -> Iterator[str]:
    yield "| dtype | bytes | state |"
    yield "|---|---|---|"
    for name, d in dtypes.ALL.items():
        if d.available:
            state = "done"
        else:
            state = f"not on WebGPU: TypeError; {WIDE[name]} replaces it"
        yield f"| {name} | {d.itemsize} | {state} |"


def operator_lines() -> Iterator[str]:
    signs = {
        "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "and": "&",
        "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@", "eq": "==", "ne": "!=", "lt": "<",
        "le": "<=", "gt": ">", "ge": ">=", "neg": "-x", "pos": "+x", "abs": "abs(x)", "invert": "~x",
    }  # fmt: skip
    for label, table in [("Two operands", operators.BINARY), ("Comparisons", operators.COMPARE)]:
        yield f"{label}: {' '.join(f'`{signs[n]}`' for n in table)}, with arrays, NumPy arrays and Python scalars."
    yield f"One operand: {' '.join(f'`{signs[n]}`' for n in operators.UNARY)}. In place: `+=` and so on."
    yield "Indexing and assignment: integers, slices, `...`, `None`, arrays of integers, masks, in any mixture."
    names = ", ".join(f"`{n}`" for n in sorted(vars(taking.Part)) if n[0] != "_")
    yield f"Functional updates, every duplicate counting: `a.at[key]` with {names}."
    names = sorted(n for n in dir(tg.Array) if not n.startswith("_"))
    readers = [n for n in names if inspect.iscoroutinefunction(getattr(tg.Array, n))]
    methods = [n for n in names if callable(getattr(tg.Array, n)) and n not in readers]
    facts = [n for n in names if n not in methods and n not in readers]
    yield f"Attributes: {', '.join(f'`{n}`' for n in facts)}."
    yield f"Methods: {', '.join(f'`{n}`' for n in methods)}."
    yield f"Readers, to be awaited: {', '.join(f'`{n}`' for n in readers)}; `tg.fetch` and `tg.synchronize`."
    yield "Where Python can suspend (JSPI): `float`, `int`, `bool`, iteration, `np.asarray`, `print` without `await`."


def page() -> Iterator[str]:
    yield "# What tabgpu has"
    yield ""
    yield "Printed from the package's own tables by docs/print_features.py; a test compares. What is listed is done,"
    yield "on every WebGPU adapter, unless its line says otherwise. ULP is the greatest error of float32 results"
    yield "against float64 ([numerics.md](numerics.md)); [differences.md](differences.md) is what differs from NumPy."
    yield ""
    yield "## Dtypes"
    yield ""
    yield from dtype_table()
    yield ""
    yield "## Arrays"
    yield ""
    for line in operator_lines():
        yield f"- {line}"
    chapters = [
        ("Creation", creation),
        ("Ranges and buffers", ranges),
        ("Dtypes asked for", dtype_functions),
        ("Shapes asked for, copies, positions", inspecting),
        ("Views and shapes", manipulation),
        ("Indexing by function", taking),
        ("Joining", joining),
        ("Splitting", splitting),
        ("Padding", padding),
        ("Rolling, tiling, repeating", rearranging),
        ("Diagonals and triangles", triangles),
        ("Grids", grids),
        ("Choices", choosing),
        ("Reductions", reductions),
        ("Statistics", statistics),
        ("Extremes with positions", extremes),
        ("Reductions without NaN", nan_functions),
        ("Running sums and differences", scans),
        ("Sorting", sorting),
        ("Searching", searching),
        ("Sets", sets),
        ("Rows in order and sets of rows", row_sets),
        ("Histograms", histograms),
        ("Medians and quantiles", quantiles),
        ("Comparing whole arrays", comparing),
        ("Derivatives and integrals", calculus),
        ("Complex numbers", complex_functions),
        ("Polynomials, the highest degree first", polynomials),
        ("Surfaces", surfaces),
        ("Products", products),
        ("Products over chosen axes", contractions),
        ("einsum", einsum),
    ]
    for title, module in chapters:
        yield from ("", f"## {title}", "", *functions(module, public(module)))
    yield from ("", "## Elementwise (`tg`)", "", *elementwise_table(elementwise))
    yield from ("", "Made of these, fused into one kernel:", "", *functions(elementwise, public(elementwise)))
    known = set(rows_of(elementwise))
    yield from ("", "## `tg.special`", "", *elementwise_table(tabgpu.special, known))
    names = [n for n in tabgpu.special.__all__ if inspect.isfunction(getattr(tabgpu.special, n))]
    if names:
        yield from ("", *functions(tabgpu.special, names))
    yield from ("", "## `tg.polynomial`: the lowest degree first", "")
    yield from functions(tabgpu.polynomial, tabgpu.polynomial.__all__)
    yield from ("", "## `tg.interpolate`", "", *functions(tabgpu.interpolate, tabgpu.interpolate.__all__))
    yield from ("", *functions(tg, ["interp"]), "", "| class | what |", "|---|---|")
    for name in tabgpu.interpolate.__all__:
        if isinstance(getattr(tabgpu.interpolate, name), type):
            yield f"| `{name}` | {first_sentence(getattr(tabgpu.interpolate, name))} |"
    yield from ("", "## `tg.stats`", "", *functions(tabgpu.stats, tabgpu.stats.__all__))
    methods = ", ".join(f"`{n}`" for n in vars(type(tabgpu.stats.norm)) if n[0] != "_")
    yield from ("", f"Of `tg.stats.norm`, the normal distribution: {methods}.")
    yield from ("", "## `tg.nn`", "", *elementwise_table(tabgpu.nn, known))
    yield from ("", *functions(tabgpu.nn, sorted(n for n in vars(tabgpu.nn) if not n.startswith("_"))))
    yield from ("", "### `tg.nn.grad`", "", *functions(tabgpu.nn.grad, tabgpu.nn.grad.__all__))
    names = sorted(tabgpu.linalg.__all__)
    yield from ("", "## `tg.random`", "", *functions(tabgpu.random, tabgpu.random.__all__))
    methods = ", ".join(f"`{n}`" for n in vars(tabgpu.random.Generator) if not n.startswith("_"))
    yield from ("", f"Of a `Generator`: {methods}.")
    yield from (
        "",
        "Bit generators: `Philox`, `Threefry` (a key and a position: `state`, `spawn`, `jumped`, `advance`,",
    )
    yield "`random_raw`) from seeds or from a `SeedSequence`, whose words are NumPy's."
    yield from ("", "## `tg.linalg`", "", *functions(tabgpu.linalg, names))
    yield from ("", "## `tg.linalg.blas`", "", *functions(tabgpu.linalg.blas, tabgpu.linalg.blas.__all__))
    yield from ("", "## `tg.fft`", "", *functions(tabgpu.fft, sorted(tabgpu.fft.__all__)))
    names = [n for n, where in WHERE.items() if where.startswith("signal.")]
    yield from ("", "## Signals (`tg`)", "", *functions(tg, names))
    names = [n for n in tabgpu.signal.__all__ if n not in tabgpu.signal.SCIPY.split()]
    yield from ("", "## `tg.signal`", "", *functions(tabgpu.signal, names))
    theirs = ", ".join(f"`{n}`" for n in sorted(tabgpu.signal.SCIPY.split()))
    yield from (
        "",
        f"Designs of filters on the host that are SciPy's own, where SciPy is installed: {theirs}.",
    )
    windows = tabgpu.signal.windows
    yield from ("", "### `tg.signal.windows`", "", *functions(windows, windows.__all__))
    yield from ("", "## `tg.image`", "", *functions(tabgpu.image, tabgpu.image.__all__))
    yield from ("", "## `tg.lax`", "", *elementwise_table(tabgpu.lax, known))
    renamed = {n: r for r, names in rows_of(tabgpu.lax).items() for n in names if r in known and n != r.name}
    spelled = ", ".join(f"`{n}` ({row.name})" for n, row in sorted(renamed.items()))
    yield from ("", f"Rows of `tg` under other names: {spelled}.", "")
    yield from functions(tabgpu.lax, sorted(tabgpu.lax.__all__))
    names = [n for n in tabgpu.quant.__all__ if inspect.isfunction(getattr(tabgpu.quant, n))]
    yield from ("", "## `tg.quant`", "", *functions(tabgpu.quant, names))
    made = ", ".join(f"{name} ({b} bytes for {n})" for name, (n, b) in tabgpu.quant.FORMATS.items())
    yield from ("", f"Formats of `QTensor`, and what a block of weights takes: {made}.")
    yield from ("", "## `tg.backend`", "", first_sentence(tabgpu.backend.Backend), "")
    yield from functions(tabgpu.backend.Backend, [n for n in dir(tabgpu.backend.Backend) if n[0] != "_"])
    yield from ("", "## Kernels of one's own", "", "| class | what |", "|---|---|")
    for name in ("ElementwiseKernel", "ReductionKernel", "RawKernel"):
        yield f"| `{name}` | {first_sentence(getattr(tg, name))} |"
    yield from ("", "## Buffers that a page shares", "", *functions(sharing, public(sharing)))
    yield from ("", "## Pictures", "", *functions(showing, ["show"]))
    yield from ("", "## Beside NumPy and other libraries", "", *functions(interop, public(interop)))
    yield from ("", "## Reading", "", *functions(READING, public(READING)))
    yield from ("", "## The device", "", *functions(runtime, public(runtime)))
    yield from ("", "## Repeating and measuring", "", *functions(tg, MEASURING))
    names = ", ".join(f"`{n}`" for n in tabgpu.aio.__all__)
    yield from ("", "## `tg.aio`", "", f"Where a shape depends on data, to be awaited anywhere: {names}.")
    yield from ("", "## NumPy's ufuncs that are not elementwise functions here", "")
    yield from ("| ufunc | reason |", "|---|---|")
    for name, reason in sorted(elementwise.NOT_HERE.items()):
        yield f"| `{name}` | {cell(reason)} |"
    yield from checklists.sections()


def text() -> str:
    return "\n".join(page()) + "\n"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(text())
