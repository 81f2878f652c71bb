"""`tabgpu run`: scripts in the page and in a worker, their output, files, arguments and exit status."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

# Enough of WebGPU to count as a use of it, without tabgpu's own modules.
SUBMIT = """
import js
from pyodide.ffi import run_sync, to_js
adapter = await js.navigator.gpu.requestAdapter()
device = await adapter.requestDevice()
device.queue.submit(to_js([device.createCommandEncoder().finish()]))
"""


def write(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text))
    return name


@pytest.mark.parametrize(
    "options",
    [[], ["--worker"], ["--launcher", "plain"], ["--worker", "--launcher", "plain"]],
    ids=["page", "worker", "plain", "plain-worker"],
)
def test_a_script_gets_arguments_and_gives_output_files_and_status(command, tmp_path, options) -> None:
    write(tmp_path, "tools/near.py", "VALUE = 41 + 1\n")
    write(tmp_path, "data/table.csv", "1,2\n3,4\n")
    script = write(
        tmp_path,
        "tools/script.py",
        SUBMIT
        + """
import sys, asyncio, pathlib, near, numpy as np
await asyncio.sleep(0.01)
print("argv", sys.argv, near.VALUE, __name__, js.globalThis.constructor.name)
print("grüße", file=sys.stderr)
print(np.loadtxt("data/table.csv", delimiter=",").sum())
pathlib.Path("/out/deep").mkdir()
pathlib.Path("/out/deep/a b.bin").write_bytes(bytes(range(256)))
pathlib.Path("out/b.txt").write_text("b")
raise SystemExit(7)
""",
    )
    done = command("run", "--file", "data", *options, script, "one", "--two", "-x")
    scope = "DedicatedWorkerGlobalScope" if "--worker" in options else "Window"
    assert f"argv ['tools/script.py', 'one', '--two', '-x'] 42 __main__ {scope}\n10.0\n" == done.stdout, (
        done.stderr
    )
    assert "grüße" in done.stderr
    assert done.returncode == 7
    assert (tmp_path / "out/deep/a b.bin").read_bytes() == bytes(range(256))
    assert (tmp_path / "out/b.txt").read_text() == "b"


def test_output_arrives_while_the_script_still_blocks_the_page(tmp_path, pyodide) -> None:
    write(tmp_path, "slow.py", SUBMIT + "import time\nprint('first')\ntime.sleep(4)\nprint('last')\n")
    line = [sys.executable, "-m", "tabgpu_command", "run", "--pyodide", str(pyodide), "slow.py"]
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first, seen = process.stdout.readline(), time.monotonic()
        last, end = process.stdout.readline(), time.monotonic()
        assert (first, last) == ("first\n", "last\n")
        assert end - seen > 2
        assert process.wait(60) == 0


def test_python_may_suspend_and_much_output_is_whole(command, tmp_path) -> None:
    script = write(
        tmp_path,
        "many.py",
        SUBMIT
        + """
from pyodide.ffi import can_run_sync
import asyncio
assert can_run_sync()
def wait():
    run_sync(asyncio.sleep(0.01))
wait()
for i in range(20000):
    print(i)
""",
    )
    done = command("run", script)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(f"{i}\n" for i in range(20000))


def test_an_exception_shows_the_users_line_and_gives_status_1(command, tmp_path) -> None:
    script = write(
        tmp_path, "bad.py", SUBMIT + "def divide(x):\n    return x / 0\n\nprint('before')\ndivide(1)\n"
    )
    done = command("run", script)
    assert done.returncode == 1
    assert done.stdout == "before\n"
    assert 'File "bad.py", line 8, in divide\n    return x / 0' in done.stderr
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "harness" not in done.stderr


def test_a_syntax_error_shows_the_line(command, tmp_path) -> None:
    done = command("run", write(tmp_path, "syntax.py", "x = 1\nif x\n"))
    assert done.returncode == 1
    assert 'File "syntax.py", line 2' in done.stderr and "SyntaxError" in done.stderr


def test_a_script_outside_the_working_folder_runs_with_its_neighbours(
    command, tmp_path, tmp_path_factory
) -> None:
    far = tmp_path_factory.mktemp("far")
    write(far, "helper.py", "WORD = 'helped'\n")
    write(far, "main.py", SUBMIT + "import helper\nprint(helper.WORD)\n")
    done = command("run", str(far / "main.py"))
    assert (done.stdout, done.returncode) == ("helped\n", 0), done.stderr


def test_the_screenshot_shows_the_output(command, tmp_path) -> None:
    done = command(
        "run", "--screenshot", "shots/page.png", write(tmp_path, "x.py", SUBMIT + "print('hello')\n")
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "shots/page.png").read_bytes().startswith(b"\x89PNG")


def test_a_setting_of_tabgpu_reaches_the_tab(command, tmp_path) -> None:
    script = write(
        tmp_path, "env.py", SUBMIT + "import os\nprint(os.environ['TABGPU_FUSE'], os.environ['SUITE'])\n"
    )
    done = command("run", "--env", "SUITE=a=b", script, env={"TABGPU_FUSE": "0", "SUITE": "the host's own"})
    assert done.stdout == "0 a=b\n"
    assert "TABGPU_FUSE" not in os.environ
    wrong = command("run", "--env", "SUITE", script)
    assert wrong.returncode == 2 and "NAME=VALUE" in wrong.stderr


def test_a_lost_device_is_no_success(command, tmp_path) -> None:
    """Also if nothing is read afterwards that would say so."""
    script = tmp_path / "lost.py"
    script.write_text(
        "import tabgpu as tg\nawait tg.init()\nx = tg.ones(3) + 1\nprint(await x.sum().item())\n"
        "tg.device().js.destroy()\nprint('on it goes')\n"
    )
    result = command("run", str(script))
    assert result.returncode == 1
    assert "on it goes" in result.stdout and "the device was lost during the run" in result.stderr
