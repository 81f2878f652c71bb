"""Another project's view: a new venv, `pip install WHEEL[host]`, `tabgpu test --with . --junitxml F`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(*line: str | Path, cwd: Path = ROOT) -> None:
    done = subprocess.run(line, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `tabgpu` program of a venv that has only the wheel with its `host` extra."""
    folder = tmp_path_factory.mktemp("consumer")
    check(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ".")
    wheel = next(folder.glob("tabgpu-*.whl"))
    venv.create(folder / "venv", with_pip=True)
    bin_ = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    check(bin_ / "python", "-m", "pip", "install", "-q", f"{wheel}[host]", cwd=folder)
    shutil.copytree(Path(__file__).parent / "consumer", folder / "project")
    return bin_ / "tabgpu"


def consumer_tests(program: Path, pyodide: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    line = [str(program), "test", "--with", ".", "--junitxml", "out.xml", *args]
    full = {**os.environ, "TABGPU_PYODIDE": str(pyodide), **env}
    project = program.parents[2] / "project"
    (project / "out.xml").unlink(missing_ok=True)
    return subprocess.run(line, cwd=project, env=full, capture_output=True, text=True, timeout=180)


def test_the_host_extra_needs_no_numpy(installed) -> None:
    python = installed.with_name("python")
    code = "import tabgpu_command, importlib.util as u; assert u.find_spec('numpy') is None; import tabgpu"
    check(python, "-c", code, cwd=installed.parent)


def test_passing_tests(installed, pyodide) -> None:
    done = consumer_tests(installed, pyodide)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed, 1 skipped" in done.stdout.splitlines()[-1]
    suite = ET.parse(installed.parents[2] / "project" / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "0", "0")


def test_a_failing_test_gives_status_1(installed, pyodide) -> None:
    done = consumer_tests(installed, pyodide, "--worker", TABGPU_CONSUMER_FAILS="1")
    assert done.returncode == 1, done.stdout + done.stderr
    suite = ET.parse(installed.parents[2] / "project" / "out.xml").getroot()[0]
    assert suite.get("failures") == "1"


def test_without_webgpu_it_does_not_pass(installed, pyodide) -> None:
    done = consumer_tests(installed, pyodide, "--browser-arg=--disable-software-rasterizer")
    assert done.returncode == 121, done.stdout + done.stderr
    assert "no WebGPU" in done.stderr
