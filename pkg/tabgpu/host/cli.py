"""The `tabgpu` command line: options and messages. The work is in session.py."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from tabgpu.host import files, session, wheel
from tabgpu.host.errors import HostError
from tabgpu.host.session import Job, Launch

F = TypeVar("F", bound=Callable[..., Any])
console = Console(stderr=True, highlight=False)


def note(text: str) -> None:
    console.print(f"tabgpu: {text}", style="dim", markup=False)


def output(stream: str, text: str) -> None:
    target = sys.stdout if stream == "stdout" else sys.stderr
    target.write(text)
    target.flush()


def browser_options(command: F) -> F:
    """The options of every command that starts a browser."""
    options = [
        click.option("--browser", metavar="PATH", help="Browser to start (default: $TABGPU_BROWSER, Playwright's, installed)."),
        click.option("--browser-arg", "browser_args", multiple=True, metavar="ARG", help="Pass to the browser; repeatable."),
        click.option("--launcher", type=click.Choice(["playwright", "plain"]), default="playwright", show_default=True,
                     help="`plain` starts the browser as a subprocess, without Playwright."),
        click.option("--adapter", type=click.Choice(["default", "swiftshader"]), default="default", show_default=True,
                     help="`default` takes the hardware and falls back to SwiftShader; it says which."),
        click.option("--headed", is_flag=True, help="Show the browser's window."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def tab_options(command: F) -> F:
    """The options of `run` and `test`."""
    options = [
        click.option("--worker", is_flag=True, help="Run in a Web Worker instead of the page."),
        click.option("--timeout", type=float, metavar="SECONDS", help="Give up after so long (exit status 124)."),
        click.option("--screenshot", type=click.Path(path_type=Path), help="Save a picture of the page at the end."),
        click.option("--pyodide", type=click.Path(path_type=Path), metavar="DIR", help="A Pyodide distribution to use."),
        click.option("--with", "with_", multiple=True, metavar="WHEEL_OR_DIR",
                     help="Also install this package and its dependencies; repeatable."),
        click.option("--file", "extra", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
                     help="Also copy this file or folder into the tab; repeatable."),
        click.option("--allow-no-gpu", is_flag=True, help="Accept a run that never used WebGPU."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return browser_options(command)


def imported_packages(folder: Path, contents: dict[str, bytes]) -> tuple[str, ...]:
    """The distribution's packages that the copied Python files import."""
    packages = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    owner = {module: name for name, entry in packages.items() for module in entry.get("imports", ())}
    found = set()
    for name, source in contents.items():
        if name.endswith(".py"):
            for match in re.finditer(rb"^\s*(?:import|from)\s+(\w+)", source, re.MULTILINE):
                found.add(owner.get(match[1].decode(), ""))
    return tuple(sorted(found - {""}))


def find_pyodide(given: Path | None) -> Path:
    """The Pyodide distribution to serve."""
    folder = given or Path(os.environ.get("TABGPU_PYODIDE") or wheel.PACKAGE.parents[1] / ".cache" / "pyodide")
    if not (folder / "pyodide.mjs").is_file():
        raise HostError(f"no Pyodide distribution in {folder} (from --pyodide or $TABGPU_PYODIDE)")
    return folder


def execute(job: Job, launch: Launch, options: dict[str, Any], contents: dict[str, bytes]) -> int:
    """Run a job and save what it left; the exit status."""
    folder = find_pyodide(options["pyodide"])
    name = wheel.wheel_name()
    wheels = {name: wheel.tab_wheel()}
    packages = dict.fromkeys((*job.packages, *imported_packages(folder, contents)))
    job = replace(job, packages=tuple(packages), wheels=tuple(f"/wheels/{n}" for n in wheels))
    outcome = session.run_job(
        job,
        launch,
        pyodide=folder,
        files=contents,
        wheels=wheels,
        timeout=options["timeout"],
        screenshot=options["screenshot"],
        output=output,
        note=note,
    )
    for path in files.save(outcome.out, Path("out")):
        note(f"saved {path}")
    if not job.allow_no_gpu:
        session.require_gpu(outcome)
    return outcome.status


def launch_of(options: dict[str, Any]) -> Launch:
    return Launch(
        browser=options["browser"],
        browser_args=options["browser_args"],
        launcher=options["launcher"],
        adapter=options["adapter"],
        headed=options["headed"],
    )


def terminal_env() -> dict[str, str]:
    """What programs in the tab need to know of this terminal."""
    return {"COLUMNS": str(shutil.get_terminal_size().columns), "HOME": session.ROOT}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(wheel.version(), prog_name="tabgpu")
def cli() -> None:
    """NumPy for the GPU in a browser tab: run scripts and tests in a headless tab."""


@cli.command(context_settings={"allow_interspersed_args": False})
@tab_options
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run(script: Path, args: tuple[str, ...], **options: Any) -> int:
    """Run SCRIPT with ARGS in a tab; top-level await works."""
    name, contents = files.script_files(script, options["extra"])
    job = Job("run", script=name, args=args, worker=options["worker"], packages=("numpy",),
              env=terminal_env(), allow_no_gpu=options["allow_no_gpu"])  # fmt: skip
    return execute(job, launch_of(options), options, contents)


@cli.command(context_settings={"ignore_unknown_options": True})
@tab_options
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def test(args: tuple[str, ...], **options: Any) -> int:
    """Run pytest inside a tab; unknown options and ARGS go to pytest."""
    contents = files.test_files(args, options["extra"])
    if sys.stdout.isatty() and not any(a.startswith("--color") for a in args):
        args = ("--color=yes", *args)
    job = Job("test", args=args, worker=options["worker"], packages=("numpy", "pytest"),
              env=terminal_env(), allow_no_gpu=options["allow_no_gpu"])  # fmt: skip
    return execute(job, launch_of(options), options, contents)


def main() -> None:
    """The console script: exit with the status of the tab's work."""
    try:
        status = cli.main(standalone_mode=False)
    except click.ClickException as e:
        e.show()
        status = e.exit_code
    except click.Abort:
        status = 130
    except HostError as e:
        console.print(f"tabgpu: {e}", style="bold red", markup=False)
        status = e.status
    sys.exit(status)


if __name__ == "__main__":
    main()
