"""The command's own failures: each has a clear message and an exit status of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_run import SUBMIT, write

NO_WEBGPU = (
    "--browser-arg=--disable-software-rasterizer"  # no adapter then, where there is no hardware either
)
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="finds the renderer through /proc"
)


def test_no_browser(command, tmp_path) -> None:
    done = command("run", "--browser", "/nowhere/chrome", write(tmp_path, "x.py", SUBMIT))
    assert done.returncode == 120
    assert "no browser at /nowhere/chrome" in done.stderr


def test_a_browser_that_does_not_start(command, tmp_path) -> None:
    for launcher in ("playwright", "plain"):
        done = command(
            "run", "--launcher", launcher, "--browser", "/bin/false", write(tmp_path, "x.py", SUBMIT)
        )
        assert done.returncode in (120, 122), launcher
        assert "/bin/false" in done.stderr or "ended with status 1" in done.stderr


@pytest.mark.parametrize("kind", ["run", "test", "info"])
def test_no_adapter(command, tmp_path, kind) -> None:
    write(tmp_path, "x.py", "print('must not run')\n")
    write(tmp_path, "tests/test_x.py", "def test_passes(): pass\n")
    args = {"run": ["x.py"], "test": ["tests"], "info": []}[kind]
    done = command(kind, NO_WEBGPU, "--adapter", "swiftshader", *args)
    assert done.returncode == 121
    assert "requestAdapter() gave no adapter" in done.stderr and "chrome://flags" in done.stderr
    assert "must not run" not in done.stdout and "passed" not in done.stdout


def test_the_missing_adapter_can_be_allowed(command, tmp_path) -> None:
    done = command("run", NO_WEBGPU, "--allow-no-gpu", write(tmp_path, "x.py", "print('ran')\n"))
    assert (done.stdout, done.returncode) == ("ran\n", 0), done.stderr


def test_success_without_any_gpu_work_is_refused(command, tmp_path) -> None:
    done = command("run", write(tmp_path, "x.py", "print('ran')\n"))
    assert (done.stdout, done.returncode) == ("ran\n", 123)
    assert "nothing was submitted to the GPU" in done.stderr


@pytest.mark.parametrize(
    "options", [[], ["--worker"], ["--launcher", "plain"]], ids=["page", "worker", "plain"]
)
def test_timeout(command, tmp_path, options) -> None:
    script = write(tmp_path, "x.py", SUBMIT + "print('started')\nwhile True: pass\n")
    done = command("run", "--timeout", "1.5", *options, script)
    assert (done.stdout, done.returncode) == ("started\n", 124)
    assert "timeout: not finished after 1.5 s" in done.stderr


def descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


@needs_proc
@pytest.mark.parametrize("options", [[], ["--launcher", "plain"]], ids=["playwright", "plain"])
def test_page_crash(tmp_path, pyodide, options) -> None:
    script = write(tmp_path, "x.py", SUBMIT + "print('started')\nwhile True: pass\n")
    line = [sys.executable, "-m", "tabgpu_command", "run", "--pyodide", str(pyodide), *options, script]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "started\n"
        start = time.monotonic()
        for pid in descendants(process.pid):
            if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        assert process.wait(60) == 122
        assert time.monotonic() - start < 20
        assert "the page crashed" in process.stderr.read()


def test_no_such_script_and_wrong_usage(command) -> None:
    done = command("run", "missing.py")
    assert done.returncode == 1 and "no such script" in done.stderr
    assert command("run").returncode == 2


def test_a_folder_without_pyodide(command, tmp_path) -> None:
    done = command("run", "--pyodide", str(tmp_path), write(tmp_path, "x.py", SUBMIT))
    assert done.returncode == 1 and "no Pyodide distribution" in done.stderr


def test_a_broken_pyodide_is_reported_with_its_reason(command, tmp_path, pyodide) -> None:
    for file in pyodide.iterdir():
        (tmp_path / "pyodide").mkdir(exist_ok=True)
        if file.name != "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl":
            (tmp_path / "pyodide" / file.name).symlink_to(file)
    done = command("run", "--pyodide", "pyodide", write(tmp_path, "x.py", SUBMIT))
    assert done.returncode == 122
    assert "packages did not load" in done.stderr and "numpy" in done.stderr
