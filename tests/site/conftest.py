"""Fixtures of the host tests: the `tabgpu` command as a subprocess, and a browser for served pages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tabgpu_command

tabgpu_command.without_core()  # the host side is tested without the in-browser modules

from tabgpu.host import browser as host_browser  # noqa: E402
from tabgpu.host import dist, pins, site  # noqa: E402
from tabgpu.host.server import TabServer  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 240  # seconds for one command; each takes about 6 on two idle cores

collect_ignore = ["consumer"]  # a project of its own; its tests run in the tab

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def pyodide() -> Path:
    """The self-hosted Pyodide distribution of this tree."""
    return dist.ensure(ROOT / ".cache" / "pyodide", pins.DEFAULT, note=print)


@pytest.fixture
def command(tmp_path: Path, pyodide: Path) -> Command:
    """`command("run", "x.py")` runs the tabgpu command in a new folder; stdout, stderr and returncode come back."""

    def call(*args: str, python: str = sys.executable, env: dict[str, str] | None = None):
        line = [python, "-m", "tabgpu_command", *args]
        full = {**os.environ, "TABGPU_PYODIDE": str(pyodide), **(env or {})}
        return subprocess.run(line, cwd=tmp_path, env=full, capture_output=True, text=True, timeout=LIMIT)

    return call


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """A Playwright browser with WebGPU (SwiftShader where there is no GPU), for tests that open pages themselves."""
    from playwright.sync_api import sync_playwright

    adapter = "default" if host_browser.maybe_hardware() else "swiftshader"
    with sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=host_browser.find_browser(None, playwright=False),
            args=host_browser.flags(adapter, []),
            chromium_sandbox=False,
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve(pyodide: Path) -> Iterator[Callable[..., TabServer]]:
    """`serve(FOLDER, prefix="/sub/")` serves a folder as `tabgpu serve` does; the server's `url` has no prefix."""
    servers: list[TabServer] = []

    def start(folder: Path, **options) -> TabServer:
        server = site.site_server(folder, pyodide, **options)
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()
