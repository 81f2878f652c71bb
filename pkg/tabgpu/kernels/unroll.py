"""Loops written out: some compilers keep private arrays that a loop goes through in slow memory."""

from __future__ import annotations

import re


def unrolled(text: str, name: str, count: int) -> str:
    """The text with each `for (var k = 0u; k < NAME; k++)` written out `count` times (a function's own array gets
    constant indices only)."""
    loop = re.compile(
        rf"^( *)for \(var k = 0u; k < {re.escape(name)}; k\+\+\) \{{\n(.*?)^\1\}}\n", re.M | re.S
    )

    def bodies(match: re.Match[str]) -> str:
        indent, inside = match.groups()
        each = [re.sub(r"\bk\b", f"{k}u", inside) for k in range(count)]
        return "".join(f"{indent}{{\n{body}{indent}}}\n" for body in each)

    return loop.sub(bodies, text)
