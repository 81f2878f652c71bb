"""What the compiler says of a user's kernel, and what happens when it runs on tiny arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from . import codegen_custom as text
from . import engine
from .array import Array
from .errors import TabgpuError


class Diagnostic(NamedTuple):
    """One message. kind: error, warning, info, or probe (it compiled, and running it on tiny arguments failed).
    line: of the user's text, from 1 on; 0 if of none. source: that line."""

    kind: str
    line: int
    message: str
    source: str
    part: str

    def __str__(self) -> str:
        at = f", line {self.line}" if self.line else ""
        return f"{self.part}{at}: {self.kind}: {self.message}" + (f" | {self.source}" if self.source else "")


async def diagnose(name: str, code: str) -> list[Diagnostic]:
    """The compiler's messages about a module with marked lines."""
    gpu = engine.device()
    gpu.check()
    gpu.counters.crossings += 1
    said = json.loads(str(await gpu.guard(gpu.js.diagnose(name, code))))
    found = []
    for kind, number, message in said:
        label, line, source = text.place(code, number) if number else ("", 0, "")
        found.append(Diagnostic(kind, line, message, source, label or name))
    return found


async def probed(name: str, run: Callable[[], list[Array]]) -> list[Diagnostic]:
    """What goes wrong when a kernel is run."""
    try:
        await engine.fetch([(a._cell.op, a._layout) for a in run()])
    except (TabgpuError, TypeError, ValueError) as error:
        return [Diagnostic("probe", 0, str(error), "", name)]
    return []
