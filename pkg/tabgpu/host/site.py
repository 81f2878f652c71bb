"""The server of `tabgpu serve`: a folder of pages with Pyodide and tabgpu's wheel beside them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tabgpu.host import wheel
from tabgpu.host.server import TabServer


def clean_prefix(prefix: str) -> str:
    """A URL path that starts and ends with a slash."""
    inner = prefix.strip("/")
    return f"/{inner}/" if inner else "/"


def lock_with_tabgpu(pyodide: Path) -> bytes:
    """Pyodide's lock with an entry for tabgpu, so that `loadPackage("tabgpu")` works on served pages."""
    lock = json.loads((pyodide / "pyodide-lock.json").read_bytes())
    lock["packages"]["tabgpu"] = {
        "name": "tabgpu",
        "version": wheel.version(),
        "file_name": wheel.wheel_name(),
        "sha256": hashlib.sha256(wheel.tab_wheel()).hexdigest(),
        "depends": ["numpy"] if "numpy" in lock["packages"] else [],
        "imports": ["tabgpu"],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }
    return json.dumps(lock, indent=1).encode()


def site_server(
    folder: Path,
    pyodide: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    prefix: str = "/",
    isolate: bool = False,
) -> TabServer:
    """A server (not started) of `folder` at `prefix`, with pyodide/ and wheels/ added unless the folder has its own.

    The wheel is made at each request, so an edit of the source tree shows at the next reload.
    """
    at = clean_prefix(prefix)
    server = TabServer(host=host, port=port, isolate=isolate)
    server.folders = [(at, folder), (at + "pyodide/", pyodide)]
    tree = wheel.source_tree()
    if tree is not None:  # for the PyScript example, as a site of one's own would have it
        server.folders.append((at + "pyscript/", tree / "node_modules" / "@pyscript" / "core" / "dist"))
    name = wheel.wheel_name()
    if not (folder / "wheels" / name).exists():
        server.documents[f"{at}wheels/{name}"] = wheel.tab_wheel
    if not (folder / "pyodide").exists():
        server.documents[f"{at}pyodide/{name}"] = wheel.tab_wheel
        server.documents[f"{at}pyodide/pyodide-lock.json"] = lambda: lock_with_tabgpu(pyodide)
    return server
