"""`tabgpu test`: pytest inside the tab, its arguments, its report and its exit status."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from test_run import write

TESTS = """
import asyncio
import js, pytest
from helper import VALUE
from pyodide.ffi import can_run_sync, run_sync, to_js

@pytest.fixture
def queue():
    return run_sync(run_sync(js.navigator.gpu.requestAdapter()).requestDevice()).queue

def test_gpu(queue):
    assert can_run_sync()
    queue.submit(to_js([]))

async def test_awaits(queue):
    results = await asyncio.gather(*(asyncio.sleep(0.01, i) for i in range(20)))
    assert results == list(range(20))

@pytest.mark.parametrize("n", [1, 2, 3])
def test_number(n):
    assert n < 4 and VALUE == 5

class TestGroup:
    async def test_method_awaits(self):
        await asyncio.sleep(0)

@pytest.mark.odd
def test_fails(capsys):
    print("captured")
    assert [1, 2] == [1, 3]
"""


@pytest.fixture
def project(tmp_path):
    write(
        tmp_path,
        "pyproject.toml",
        "[tool.pytest.ini_options]\nmarkers = ['odd: a marker']\naddopts = '-rf'\n",
    )
    write(tmp_path, "tests/helper.py", "VALUE = 5\n")
    write(tmp_path, "tests/test_it.py", TESTS)
    write(tmp_path, "tests/sub/test_more.py", "def test_more(): pass\n")
    return tmp_path


def test_it_reports_like_pytest(command, project) -> None:
    done = command("test", "tests", "--junitxml", "reports/out.xml")
    assert done.returncode == 1, done.stderr
    assert "FAILED tests/test_it.py::test_fails" in done.stdout
    assert "google/swiftshader" in done.stdout or "tab: " in done.stdout
    assert "1 failed, 7 passed in" in done.stdout.splitlines()[-1]
    suite = ET.parse(project / "reports/out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("8", "1")
    assert not (project / "out").exists()


@pytest.mark.parametrize(
    ("args", "status", "closing"),
    [
        (["-k", "not fails and not more"], 0, "6 passed, 2 deselected"),
        (["tests/test_it.py::test_gpu", "tests/test_it.py::test_number[2]", "--worker"], 0, "2 passed"),
        (["-x", "-m", "odd", "tests/test_it.py"], 1, "1 failed, 6 deselected"),
    ],
    ids=["keyword", "node-ids-worker", "marker"],
)
def test_arguments_go_to_pytest(command, project, args, status, closing) -> None:
    done = command("test", *args)
    assert done.returncode == status, done.stdout + done.stderr
    assert closing in done.stdout.splitlines()[-1]


def test_absolute_paths_of_tests_are_understood(command, project) -> None:
    done = command("test", f"{project}/tests/test_it.py::test_gpu")
    assert done.returncode == 0, done.stdout + done.stderr


def test_pytest_errors_keep_their_status(command, project) -> None:
    assert command("test", "tests", "-k", "nothing_matches").returncode == 5
    assert command("test", "--no-such-option").returncode == 4


def test_passing_without_the_gpu_is_refused(command, project) -> None:
    done = command("test", "tests/sub/test_more.py")
    assert "1 passed" in done.stdout and done.returncode == 123
    assert command("test", "--allow-no-gpu", "tests/sub/test_more.py").returncode == 0
