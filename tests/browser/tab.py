"""What tests ask of the tab itself; None on the native host, where tests marked `js` are skipped."""

from __future__ import annotations

import sys
from typing import Any

IN_TAB = sys.platform == "emscripten"


def _from(module: str, name: str) -> Any:
    return getattr(__import__(module, fromlist=[name]), name) if IN_TAB else None


run_js = _from("pyodide.code", "run_js")
create_proxy = _from("pyodide.ffi", "create_proxy")
create_once_callable = _from("pyodide.ffi", "create_once_callable")
