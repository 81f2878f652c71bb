"""The smaller files of a wheel mean what the tree's mean, and the tab's wheel stays small."""

from __future__ import annotations

import ast
import io
import re
import zipfile

import pytest

from tabgpu import kernels
from tabgpu.host import slim, wheel

CORE = 400_000  # bytes of a tab's wheel without the namespaces below
LARGEST = 900_000  # with them
LATER = re.compile(
    r"tabgpu/(?:nn/(?!__init__|activations|normalization)|lax/|quant/|backend/|random|custom|sharing|showing|bridge_canvas|diagnosing|formats|fetching"
    r"|linalg/(?!__init__|matrices|norms)|fft/|image/|signal/|codegen_(?:attention|conv|custom|fft|pool|raw|resize|stencil|components|neighbours|warp|distance|windows)"
    r"|routines/(?:attention|fir|iir|peaks|cholesky|elimination|lu|residual|solve|triangular|bitcast|conv|ctc|custom|eigen|fft|fold|leads|pool|quant|rcm|resize|sample|stencil|components|neighbours|warp|distance)"
    r"|kernels/(?:attention|fir|iir|peaks_|upfirdn|cholesky|eliminat|lu_|permute_rows|pivot_order|residual|blocks|conv|ctc|eigen|hessenberg|schur|triangle_vectors|triangle_root|fft|fold|pool|quant|rcm|resize|sample|stencil|components|neighbours|warp|distance|show|threefry|lib/(?:border|philox|random|threefry)))"
    r"|tabgpu/(?:interpolate/|polynomial/|stats/|special|ops/(?:polynomials|row_sets|surfaces|translators)"
    r"|routines/(?:interpolation|moments|polynomials)"
    r"|kernels/(?:aberth|from_roots|grid_inter|horner|long_div|moments|nearest_points|piecewise|tridiagonal"
    r"|lib/(?:bessel_|expint|gamma_inc|orthogonal|zeta)))"
)


def tree() -> dict[str, bytes]:
    """The package's files as they are in the tree, but for the host's."""
    found = {}
    for file in sorted(wheel.PACKAGE.rglob("*")):
        parts = file.relative_to(wheel.PACKAGE).parts
        if file.is_file() and not wheel.SKIP.intersection(parts) and file.suffix != ".pyc":
            found["/".join(("tabgpu", *parts))] = file.read_bytes()
    return found


def test_python_is_the_same_less_its_comments() -> None:
    for name, data in tree().items():
        if name.endswith(".py"):
            text = slim.without_comments(data.decode())
            assert ast.dump(ast.parse(text), include_attributes=True) == ast.dump(
                ast.parse(data.decode()), include_attributes=True
            ), name


def without_docstrings(source: str) -> str:
    """The tree of a text in which all docstrings are one and the same."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and ast.get_docstring(node) is not None
        ):
            node.body[0] = ast.Expr(ast.Constant(""))
    return ast.dump(tree)


def test_python_is_the_same_less_its_inner_docstrings() -> None:
    fewer = 0
    for name, data in tree().items():
        if name.endswith(".py"):
            for every in (True, False):
                text = slim.without_docstrings(data.decode(), every=every)
                assert text.count("\n") == data.decode().count("\n"), name
                assert without_docstrings(text) == without_docstrings(data.decode()), name
            fewer += len(data) - len(text.encode())
    assert fewer > 10_000


def test_what_a_user_meets_keeps_its_docstrings() -> None:
    """Public functions, methods of Array, and the commands, whose help click takes from there."""
    files = slim.slim(
        {f.relative_to(wheel.PACKAGE.parent).as_posix(): f.read_bytes() for f in wheel.PACKAGE.rglob("*.py")}
    )
    for name in (
        "tabgpu/ops/sorting.py",
        "tabgpu/readers.py",
        "tabgpu/jit.py",
        "tabgpu/host/cli.py",
        "tabgpu/nn/normalization.py",
    ):
        kept = {
            node.name: ast.get_docstring(node)
            for node in ast.walk(ast.parse(files[name]))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
        }
        whole = {
            node.name: ast.get_docstring(node)
            for node in ast.walk(ast.parse((wheel.PACKAGE.parent / name).read_text("utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
        }
        assert kept == whole and any(whole.values()), name


def test_kernels_are_read_the_same_from_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    files = slim.slim(tree())
    assert not [name for name in files if name.endswith(".wgsl")]
    parts = files[slim.PACKED].decode().split(slim.HEAD)[1:]
    texts = {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}
    monkeypatch.setattr(kernels, "packed", dict)  # without the users' kernels of other tests
    for cached in (kernels.read, kernels.homes):
        cached.cache_clear()
    assert sorted(texts) == sorted([*kernels.names(), *(f"lib/{n}" for n in kernels.names("lib/"))])
    for name, text in texts.items():
        assert text == kernels.read(name), name
    here, lib, home = kernels.names(), kernels.names("lib/"), kernels.homes()
    monkeypatch.setattr(kernels, "packed", lambda: texts)
    monkeypatch.setattr(kernels.resources, "files", lambda package: wheel.PACKAGE / "nowhere")
    for cached in (kernels.read, kernels.homes):
        cached.cache_clear()
    assert (kernels.names(), kernels.names("lib/"), kernels.homes()) == (here, lib, home)
    monkeypatch.undo()
    for cached in (kernels.read, kernels.homes):
        cached.cache_clear()


def test_javascript_keeps_its_lines() -> None:
    text = (wheel.PACKAGE.parents[1] / "js_bridge" / "bridge.js").read_text("utf-8")
    small = slim.without_js_comments(text)
    assert small.count("\n") == text.count("\n") and len(small) < 0.9 * len(text)
    assert [
        a
        for a, b in zip(text.split("\n"), small.split("\n"), strict=True)
        if a != b and "//" not in a and "*" not in a
    ] == []


def test_the_tabs_wheel_is_small() -> None:
    data = wheel.tab_wheel()
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert "tabgpu/bridge.js" in names and not [n for n in names if n.startswith("tabgpu/host/")]
    assert not [n for n in names if "native" in n]
    assert len(data) <= LARGEST, f"{len(data):,} bytes in {len(names)} files"
    core = {name: file for name, file in tree().items() if not LATER.match(name) and "native" not in name}
    bridge = {"tabgpu/bridge.js": (wheel.PACKAGE.parents[1] / "js_bridge" / "bridge.js").read_bytes()}
    size = len(wheel.pack_wheel("tabgpu", "0", slim.slim(core | bridge), ""))
    assert size <= CORE, f"{size:,} bytes without {LATER.pattern}"
