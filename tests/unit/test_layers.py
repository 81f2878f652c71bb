"""The layers of docs/architecture.md: what each module of tabgpu imports of tabgpu, also inside functions."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tabgpu

PACKAGE = Path(tabgpu.__file__).parent

LAYERS = {
    "pure": [
        "dtypes",
        "layout",
        "graph",
        "indexed",
        "launch",
        "errors",
        "config",
        "traced",
        "formats",
        "hosted",
    ],  # fmt: skip
    "text": [
        "codegen",
        "codegen_conv",
        "codegen_attention",
        "codegen_custom",
        "codegen_fft",
        "codegen_fft_block",
        "codegen_index",
        "codegen_move",
        "codegen_pool",
        "codegen_product",
        "codegen_raw",
        "codegen_reduction",
        "codegen_resize",
        "codegen_rows",
        "codegen_shifted",
        "codegen_strided",
        "codegen_components",
        "codegen_neighbours",
        "codegen_stencil",
        "codegen_warp",
        "codegen_windows",
        "kernels",
        "kernels.attention_inner",
        "kernels.elimination",
        "kernels.conv_direct_inner",
        "kernels.conv_inner",
        "kernels.eigen_functions",
        "kernels.reflector_functions",
        "kernels.fir_functions",
        "kernels.gemm_inner",
        "kernels.gemm_matrix_inner",
        "kernels.gemm_tiles",
        "kernels.gemv_inner",
        "kernels.iir_functions",
        "kernels.neighbours_functions",
        "kernels.piecewise_functions",
        "kernels.pool_functions",
        "kernels.resize_functions",
        "kernels.quant_forms",
        "kernels.rows_functions",
        "kernels.stencil_inner",
        "kernels.threefry_functions",
        "kernels.scan_forms",
        "kernels.unroll",
        "kernels.warp_functions",
    ],
    "plan": [
        "plan",
        "region",
        "lower",
        "lower_reduction",
        "lower_strided",
        "lower_product",
        "lower_product_wide",
        "lower_wide",
        "windows",
        "routines",
        "routines.*",
        "work",
        "tuned",
        "digest",
    ],  # fmt: skip
    "door": [
        "bridge",
        "bridge_canvas",
        "bridge_native",
        "native_adapter",
        "native_waiting",
        "native_clock",
        "native_storage",
        "blocking",
        "waking",
    ],
    "device": ["device", "faults", "fetching", "giving", "pipelines", "remembered"],
    "seam": ["engine", "executing", "program", "programs", "recorder", "traces", "tracing", "ceilings"],
    "meaning": [
        "aio",
        "chapters",
        "late",
        "array",
        "jit",
        "jit_arguments",
        "operators",
        "watching",
        "interop",
        "dispatch",
        "attributes",
        "display",
        "readers",
        "runtime",
        "profiling",
        "profile_report",
        "random",
        "random.*",
        "special",
        "special_composed",
        "polynomial",
        "polynomial.*",
        "interpolate",
        "interpolate.*",
        "stats",
        "stats.*",
        "ops",
        "ops.*",
        "nn",
        "nn.*",
        "quant",
        "quant.*",
        "fft",
        "fft.*",
        "image",
        "image.*",
        "lax",
        "lax.*",
        "linalg",
        "linalg.*",
        "signal",
        "signal.*",
    ],
    "custom": [
        "custom",
        "custom_raw",
        "custom_reduction",
        "diagnosing",
        "sharing",
        "showing",
        "backend",
        "backend.*",
    ],
    "tuning": ["tuning", "usage"],
    "all": ["__init__"],
    "host": ["host", "host.*"],
}
MAY_IMPORT = {
    "pure": {"pure"},
    "text": {"text", "pure"},
    "plan": {"plan", "text", "pure"},
    "door": {"errors"},
    "device": {"device", "door", "pure"},
    "seam": {"seam", "device", "plan", "pure"},
    "meaning": {"meaning", "seam", "pure"},
    "custom": {"custom", "meaning", "seam", "device", "door", "plan", "text", "pure"},
    "tuning": {"meaning", "seam", "device", "door", "plan", "text", "pure"},
    "all": {"meaning", "seam", "pure"},
    "host": {"host"},
}
# What meaning may ask of the seam: its four functions, the device's state, waiting.
SEAM = {
    "upload",
    "note",
    "weigh",
    "fetch",
    "fetch_element",
    "fetch_range",
    "flush",
    "give",
    "settle",
    "wait",
    "wait_for",
    "device",
    "current",
    "open_new",
    "can_suspend",
    "typed_array",
    "Device",
    "tracing",
    "trace",
    "touch",
    "foreign",
    "one_thread",
    "pending",
    "any_tracing",
    "programs",
    "compile_known",
    "noted",
    "most",
    "BIG",
}
BROWSER = {"js", "pyodide", "pyodide_js"}


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[:2] == ("host", "tab"):
            continue  # files of the tab's own
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = path
    return found


def layer(name: str) -> str:
    for key, names in LAYERS.items():
        if name in names or f"{name.split('.')[0]}.*" in names:
            return key
    raise AssertionError(f"{name} is in no layer: give it a place in tests/unit/test_layers.py")


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(path: Path, name: str) -> tuple[set[str], set[str]]:
    """(modules of tabgpu, others) that a file imports anywhere but for type checkers."""
    ours: set[str] = set()
    others: set[str] = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    known = modules()
    stack: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while stack:
        node = stack.pop()
        if is_for_types(node):
            continue
        stack += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            others.update(a.name.split(".")[0] for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            if node.level:
                parts = package.split(".") if package not in ("", "__init__") else []
                parts = parts[: len(parts) - node.level + 1] + module
            elif module[0] == "tabgpu":
                parts = module[1:]
            else:
                others.add(module[0])
                continue
            base = ".".join(parts)
            for a in node.names:
                full = f"{base}.{a.name}".lstrip(".")
                ours.add(full if full in known else base or "__init__")
    return ours, others


MODULES = modules()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_what_its_layer_may(name: str) -> None:
    mine = layer(name)
    ours, others = imports(MODULES[name], name)
    for other in ours:
        allowed = layer(other) in MAY_IMPORT[mine] or other in MAY_IMPORT[mine]
        if mine == "door":
            allowed = other in (
                "errors",
                "bridge_native",
                "native_adapter",
                "native_waiting",
                "native_clock",
                "native_storage",
                "blocking",
                "waking",
            )
        assert allowed, f"{name} ({mine}) imports {other} ({layer(other)})"
    assert "tabgpu" not in others
    if mine not in ("door", "host"):
        assert not others & (BROWSER - ({"pyodide"} if mine == "device" else set())), (
            f"{name} looks through the door"
        )


def test_the_layers_name_no_module_that_is_gone() -> None:
    for names in LAYERS.values():
        for n in names:
            assert n in MODULES or n.endswith(".*"), n


@pytest.mark.parametrize("name", [n for n in MODULES if layer(n) == "meaning"])
def test_meaning_asks_the_seam_for_its_functions_only(name: str) -> None:
    tree = ast.parse(MODULES[name].read_text("utf-8"))
    used = {
        n.attr
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "engine"
    }
    assert used <= SEAM, used - SEAM


@pytest.mark.parametrize("name", [n for n in MODULES if layer(n) == "host"])
def test_the_host_command_loads_without_the_browser_s_modules(name: str) -> None:
    ours, _ = imports(MODULES[name], name)
    assert all(layer(n) == "host" for n in ours)


def test_importing_tabgpu_loads_no_numpy_and_touches_no_browser() -> None:
    code = (
        "import tabgpu, sys; print('numpy' in sys.modules, 'js' in sys.modules, 'playwright' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.split() == ["False", "False", "False"]


@pytest.mark.parametrize("name", MODULES)
def test_the_first_line_says_what_lives_here(name: str) -> None:
    text = MODULES[name].read_text("utf-8")
    doc = ast.get_docstring(ast.parse(text))
    assert doc and len(doc.splitlines()[0]) > 20, f"{name}: a first line that says what lives here"
