"""The files of a wheel made smaller: comments and inner docstrings go, the kernels become one file.

Line numbers stay, and so do the docstrings of what a user meets.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

KERNELS = "tabgpu/kernels/"
PACKED = KERNELS + "packed.txt"
HEAD = "//// "  # begins the line before each kernel, which names it
# Modules that no user imports from: nobody asks for help on what is in them.
INNER = re.compile(
    r"tabgpu/(?:routines/.*|kernels/.*|host/(?!cli|bench).*|codegen\w*|lower\w*|native_\w+|bridge\w*|plan|region|graph|layout|windows|indexed"
    r"|launch|device|engine|programs?|digest|executing|faults|pipelines|trace[sd]|tracing|watching|recorder|work|blocking"
    r"|jit_arguments|remembered|tuned|ops/(?:convert|routine|waiting|guards|paths|rowwise|subscripts|ufunc_\w+))\.py"
)
_JS_COMMENT = re.compile(r"^ *(?://.*|/\*\*.*\*/|/\*\*|\*.*)$")


def slim(files: dict[str, bytes]) -> dict[str, bytes]:
    """Archive names and contents, smaller: what kernels/__init__.py, Python and JavaScript read is the same."""
    out: dict[str, bytes] = {}
    kernels = []
    for name, data in files.items():
        if name.startswith(KERNELS) and name.endswith(".wgsl"):
            text = without_wgsl_comments(data.decode())
            kernels.append(f"{HEAD}{name.removeprefix(KERNELS).removesuffix('.wgsl')}\n{text}")
        elif name.endswith(".py"):
            text = without_comments(data.decode())
            out[name] = without_docstrings(text, every=INNER.fullmatch(name) is not None).encode()
        elif name.endswith("/bridge.js"):
            out[name] = without_js_comments(data.decode()).encode()
        else:
            out[name] = data
    if kernels:
        out[PACKED] = "".join(kernels).encode()
    return out


def without_comments(source: str) -> str:
    """Python without its comments; every line is where it was."""
    lines = source.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    return "".join(lines)


def without_docstrings(source: str, *, every: bool) -> str:
    """Python without its docstrings (or only those of private names); every line is where it was."""
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = node.body[0]
        private = node.name.startswith("_") and not node.name.endswith("__")
        if (every or private) and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            begin, end = first.lineno - 1, first.end_lineno or first.lineno
            if isinstance(first.value.value, str) and lines[begin].lstrip().startswith(('"""', 'r"""')):
                lines[begin] = lines[begin][: first.col_offset] + '""\n'
                lines[begin + 1 : end] = ["\n"] * (end - begin - 1)
    return "".join(lines)


def without_wgsl_comments(text: str) -> str:
    """WGSL without the lines that only explain: those that name libraries and blocks stay (kernels/__init__.py)."""
    return re.sub(r"^ *//(?! use )(?! *\w+: (?:begin|end)\b)[^\n]*\n", "", text, flags=re.M)


def without_js_comments(text: str) -> str:
    """bridge.js without the lines that are comments: JSDoc is for tsc."""
    return "\n".join("" if _JS_COMMENT.match(line) else line for line in text.split("\n"))
