"""The files of a wheel made smaller: comments go, the kernels become one file. Docstrings and line numbers stay."""

from __future__ import annotations

import io
import re
import tokenize

KERNELS = "tabgpu/kernels/"
PACKED = KERNELS + "packed.txt"
HEAD = "//// "  # begins the line before each kernel, which names it
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
            out[name] = without_comments(data.decode()).encode()
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


def without_wgsl_comments(text: str) -> str:
    """WGSL without the lines that only explain: those that name libraries and blocks stay (kernels/__init__.py)."""
    return re.sub(r"^ *//(?! use )(?! *\w+: (?:begin|end)\b)[^\n]*\n", "", text, flags=re.M)


def without_js_comments(text: str) -> str:
    """bridge.js without the lines that are comments: JSDoc is for tsc."""
    return "\n".join("" if _JS_COMMENT.match(line) else line for line in text.split("\n"))
