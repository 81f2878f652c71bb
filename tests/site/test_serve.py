"""`tabgpu serve` and its server: MIME types, the added Pyodide and wheel, sub-paths, and what it must not serve."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tabgpu.host import wheel


def get(url: str) -> tuple[str, bytes]:
    with urllib.request.urlopen(url, timeout=20) as response:
        return response.headers["Content-Type"], response.read()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "index.html",
        "a.js",
        "b.mjs",
        "c.wasm",
        "d.wgsl",
        "e.json",
        "f.css",
        "g.zip",
        "sub/index.html",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize("prefix", ["/", "/deep/path/"])
def test_mime_types_and_additions(serve, folder, prefix) -> None:
    at = serve(folder, prefix=prefix).url + prefix
    expected = {
        "": "text/html; charset=utf-8",
        "sub/": "text/html; charset=utf-8",
        "a.js": "text/javascript; charset=utf-8",
        "b.mjs": "text/javascript; charset=utf-8",
        "c.wasm": "application/wasm",
        "d.wgsl": "text/plain; charset=utf-8",
        "e.json": "application/json",
        "f.css": "text/css; charset=utf-8",
        "g.zip": "application/zip",
        "pyodide/pyodide.mjs": "text/javascript; charset=utf-8",
        "pyodide/pyodide.asm.wasm": "application/wasm",
        f"wheels/{wheel.wheel_name()}": "application/zip",
    }
    assert {name: get(at + name)[0] for name in expected} == expected
    names = zipfile.ZipFile(io.BytesIO(get(f"{at}wheels/{wheel.wheel_name()}")[1])).namelist()
    assert "tabgpu/bridge.js" in names and not [n for n in names if n.startswith("tabgpu/host/")]
    lock = json.loads(get(at + "pyodide/pyodide-lock.json")[1])
    assert lock["packages"]["tabgpu"]["file_name"] == wheel.wheel_name()


def test_a_folder_url_gets_its_slash(serve, folder) -> None:
    with urllib.request.urlopen(serve(folder).url + "/sub", timeout=20) as response:
        assert response.url.endswith("/sub/")


@pytest.mark.parametrize("path", ["/missing", "/../secret", "/%2e%2e/secret", "/..%2fsecret", "//etc/passwd"])
def test_nothing_outside_is_served(serve, folder, path) -> None:
    (folder.parent / "secret").write_text("secret")
    with pytest.raises(urllib.error.HTTPError) as error:
        get(serve(folder).url + path)
    assert error.value.code == 404


def test_isolation_headers_are_sent_only_when_asked_for(serve, folder) -> None:
    for isolate in (False, True):
        with urllib.request.urlopen(serve(folder, isolate=isolate).url + "/", timeout=20) as response:
            assert (response.headers["Cross-Origin-Opener-Policy"] == "same-origin") is isolate


def test_the_command_prints_its_address(folder, pyodide) -> None:
    line = [
        sys.executable,
        "-m",
        "tabgpu_command",
        "serve",
        "--port",
        "0",
        "--pyodide",
        str(pyodide),
        str(folder),
    ]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            url = next(word for word in process.stdout.readline().split() if word.startswith("http"))
            assert get(url + "a.js")[1] == b"a.js"
        finally:
            process.terminate()


def test_load_package_by_name_in_a_served_page(serve, chromium, folder) -> None:
    page = chromium.new_page()
    page.goto(serve(folder, prefix="/x/").url + "/x/")
    version = page.evaluate(
        """async () => {
          const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", location.href).href);
          const py = await loadPyodide();
          await py.loadPackage("tabgpu", { messageCallback() {} });
          return py.runPython("import importlib.metadata as m; m.version('tabgpu') + ' ' + m.version('numpy')");
        }"""
    )
    assert version == f"{wheel.version()} 2.4.3"
    page.close()
