"""The `tabgpu` command line: options and messages. The work is in session.py."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from tabgpu.host import bench as measuring
from tabgpu.host import dist, files, pins, session, site, wheel
from tabgpu.host.errors import HostError
from tabgpu.host.session import Job, Launch

F = TypeVar("F", bound=Callable[..., Any])
JUNIT = ".junit.xml"  # under /out in the tab
HOST_VARIABLES = {"TABGPU_BROWSER", "TABGPU_PYODIDE"}
console = Console(stderr=True, highlight=False)


def note(text: str) -> None:
    console.print(f"tabgpu: {text}", style="dim", markup=False, soft_wrap=True)


def output(stream: str, text: str) -> None:
    target = sys.stdout if stream == "stdout" else sys.stderr
    target.write(text)
    target.flush()


def browser_options(command: F) -> F:
    """The options of every command that starts a browser."""
    options = [
        click.option("--browser", metavar="PATH", help="Browser to start; default: $TABGPU_BROWSER or a found one."),
        click.option("--browser-arg", "browser_args", multiple=True, metavar="ARG", help="Add to its command line."),
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
        click.option("--pyodide", type=click.Path(path_type=Path), metavar="DIR", help="A Pyodide distribution."),
        click.option("--with", "with_", multiple=True, metavar="WHEEL_OR_DIR",
                     help="Also install this wheel, project or NAME==VERSION with its dependencies."),
        click.option("--file", "extra", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
                     help="Also copy this file or folder into the tab; repeatable."),
        click.option("--env", multiple=True, metavar="NAME=VALUE", help="Set a variable of the tab's environment."),
        click.option("--out", default="out", type=click.Path(path_type=Path), show_default=True, metavar="DIR",
                     help="Where the files go that the tab leaves in its /out."),
        click.option("--allow-no-gpu", is_flag=True, help="Accept a run that never used WebGPU."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return browser_options(command)


def imported_packages(folder: Path, contents: dict[str, bytes], named: Iterable[str]) -> tuple[str, ...]:
    """Packages of Pyodide's lock that the copied files import; of test files only the named ones count."""
    lock = folder / "published-lock.json"
    packages = json.loads((lock if lock.is_file() else folder / "pyodide-lock.json").read_bytes())["packages"]
    owner = {module: name for name, entry in packages.items() for module in entry.get("imports", ())}
    owner |= {module: name for name, pin in pins.PURE.items() for module in pin.imports or (name,)}
    wanted = tuple(named)
    found = set()
    for name, source in contents.items():
        if not name.endswith(".py"):
            continue
        is_test = name.rpartition("/")[2].startswith("test_") or name.endswith("_test.py")
        if is_test and not any(name == w or name.startswith(w.rstrip("/") + "/") or w == "." for w in wanted):
            continue
        for match in re.finditer(rb"^\s*(?:import|from)\s+(\w+)", source, re.MULTILINE):
            found.add(owner.get(match[1].decode(), ""))
    return tuple(sorted(found - {""}))


def find_pyodide(given: Path | None) -> tuple[Path, bool]:
    """The Pyodide distribution to serve, and whether it is ours, so that packages may be added to it."""
    asked = given or (Path(os.environ["TABGPU_PYODIDE"]) if os.environ.get("TABGPU_PYODIDE") else None)
    if asked is not None:
        if not (asked / "pyodide.mjs").is_file():
            raise HostError(f"no Pyodide distribution in {asked} (from --pyodide or $TABGPU_PYODIDE)")
        return asked, False
    tree = wheel.source_tree()
    folder = tree / ".cache" / "pyodide" if tree else dist.cache_folder()
    return add_packages(folder, pins.DEFAULT), True


def add_packages(folder: Path, packages: Iterable[str]) -> Path:
    tree = wheel.source_tree()
    npm = tree / "node_modules" / "pyodide" if tree else None
    return dist.ensure(folder, packages, npm=npm if npm and npm.is_dir() else None, note=note)


def execute(
    job: Job,
    launch: Launch,
    options: dict[str, Any],
    contents: dict[str, bytes],
    named: Iterable[str] = (),
    output: Callable[[str, str], None] = output,
) -> session.Outcome:
    """Run a job and save what it left under /out."""
    folder, ours = find_pyodide(options["pyodide"])
    wheels = {wheel.wheel_name(): wheel.tab_wheel()}
    packages = [*job.packages]
    if options["with_"]:
        from tabgpu.host import deps  # needs `packaging`, which only this needs

        def add(name: str) -> None:
            if ours:
                add_packages(folder, [name])

        more, extra = deps.resolve(options["with_"], folder, add)
        packages, wheels = packages + more, wheels | extra
    brought = {dist.normal(file.split("-")[0]) for file in wheels}
    for name in imported_packages(folder, contents, named):
        if name in brought:
            continue
        try:
            if ours:
                add_packages(folder, [name])
            packages.append(name)
        except HostError as e:  # perhaps an optional import; the script will say if it needs it
            note(str(e))
    if ours:
        add_packages(folder, packages)
    job = replace(job, packages=tuple(dict.fromkeys(packages)), wheels=tuple(f"/wheels/{n}" for n in wheels))
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
    junit = outcome.out.pop(JUNIT, None)
    if junit is not None and options.get("junitxml"):
        Path(options["junitxml"]).parent.mkdir(parents=True, exist_ok=True)
        Path(options["junitxml"]).write_bytes(junit)
    for path in files.save(outcome.out, options["out"]):
        note(f"saved {path}")
    if not job.allow_no_gpu:
        session.require_gpu(outcome)
    return outcome


def launch_of(options: dict[str, Any]) -> Launch:
    return Launch(
        browser=options["browser"],
        browser_args=options["browser_args"],
        launcher=options["launcher"],
        adapter=options["adapter"],
        headed=options["headed"],
    )


def terminal_env(given: Iterable[str]) -> dict[str, str]:
    """What programs in the tab need to know of this terminal, tabgpu's own settings (TABGPU_FUSE=0 ...), and --env."""
    settings = {k: v for k, v in os.environ.items() if k.startswith("TABGPU_") and k not in HOST_VARIABLES}
    for item in given:
        name, equals, value = item.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"--env {item}: write NAME=VALUE")
        settings[name] = value
    return {"COLUMNS": str(shutil.get_terminal_size().columns), "HOME": session.ROOT, **settings}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(wheel.version(), prog_name="tabgpu")
def cli() -> None:
    """NumPy for the GPU in a browser tab: run scripts and tests in a headless tab."""


@cli.command(context_settings={"allow_interspersed_args": False})
@tab_options
@click.option("--no-numpy", is_flag=True, help="Do without NumPy, unless the script imports it.")
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run(script: Path, args: tuple[str, ...], **options: Any) -> int:
    """Run SCRIPT with ARGS in a tab; top-level await works."""
    name, contents = files.script_files(script, options["extra"])
    packages = () if options["no_numpy"] else ("numpy",)
    job = Job("run", script=name, args=args, worker=options["worker"], packages=packages,
              env=terminal_env(options["env"]), allow_no_gpu=options["allow_no_gpu"])  # fmt: skip
    return execute(job, launch_of(options), options, contents, [name]).status


@cli.command(context_settings={"ignore_unknown_options": True})
@tab_options
@click.option("--junitxml", "--junit-xml", metavar="FILE", help="Write pytest's JUnit report to this file.")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def test(args: tuple[str, ...], **options: Any) -> int:
    """Run pytest inside a tab; unknown options and ARGS go to pytest."""
    args = tuple(relative(a) for a in args)
    contents = files.test_files(args, options["extra"])
    named = [a.split("::")[0] for a in args if Path(a.split("::")[0]).exists()] or ["."]
    if sys.stdout.isatty() and not any(a.startswith("--color") for a in args):
        args = ("--color=yes", *args)
    if options["junitxml"]:
        args = (f"--junitxml=/out/{JUNIT}", *args)
    job = Job("test", args=args, worker=options["worker"], packages=("numpy", "pytest"),
              env=terminal_env(options["env"]), allow_no_gpu=options["allow_no_gpu"])  # fmt: skip
    return execute(job, launch_of(options), options, contents, named).status


@cli.command()
@tab_options
@click.option("--items", metavar="NAME,NAME", default="", help="Only items with one of these in their name.")
@click.option("--small/--full", default=None, help="Small sizes, or full ones even on a CPU adapter.")
@click.option(
    "--json", "as_json", type=click.Path(path_type=Path), metavar="FILE", help="Also write JSON here."
)
def bench(items: str, small: bool | None, as_json: Path | None, **options: Any) -> int:
    """Measure tabgpu on this machine's GPU and print a table; exit status 1 if a result was wrong."""
    picked = [name for name in items.split(",") if name]
    with console.status("starting the browser ...") as line:
        say = line.update if console.is_terminal else note
        report = measuring.Report(say, output, console.is_terminal)
        job = Job("run", script="start.py", args=(json.dumps({"items": picked, "small": small}),),
                  worker=options["worker"], packages=("numpy",), env=terminal_env(options["env"]),
                  allow_no_gpu=options["allow_no_gpu"])  # fmt: skip
        contents = {"start.py": measuring.START, "suite.py": measuring.SUITE.read_bytes()}
        status = execute(job, launch_of(options), options, contents, output=report.output).status
    measuring.show(report)
    if as_json is not None:
        report.save(as_json)
    return status or report.status()


def relative(arg: str) -> str:
    """An absolute path of a test below the working directory, as the tab knows it."""
    path, mark, rest = arg.partition("::")
    root = Path.cwd().resolve()
    if os.path.isabs(path) and Path(path).resolve().is_relative_to(root):
        return Path(path).resolve().relative_to(root).as_posix() + mark + rest
    return arg


@cli.command()
@browser_options
@click.option("--worker", is_flag=True, help="Ask in a Web Worker instead of the page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(worker: bool, as_json: bool, **options: Any) -> int:
    """Print the adapter, its features and limits, and whether Python can suspend (JSPI)."""
    outcome = session.run_job(Job("probe", worker=worker), launch_of(options), output=output, note=note)
    found = {k: v for k, v in outcome.adapter.items() if k not in ("type", "ok")}
    found = {"tabgpu": wheel.version(), "pyodide": pins.PYODIDE, **found}
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        print_info(found)
    if not outcome.adapter["ok"]:
        raise session.no_adapter(outcome.adapter)
    return 0


def print_info(found: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None)
    for key, value in found.items():
        if key == "limits":
            for name, number in sorted(value.items()):
                table.add_row(name, f"{number:,}")
        else:
            table.add_row(key, ", ".join(value) if isinstance(value, list) else str(value))
    Console(highlight=False).print(table)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("packages", nargs=-1)
@click.option(
    "--npm", type=click.Path(exists=True, path_type=Path), help="The npm package's folder, if it is here."
)
@click.option("--version", type=click.Choice(list(pins.RELEASES)), default=pins.PYODIDE, show_default=True)
def pyodide(folder: Path, packages: tuple[str, ...], npm: Path | None, version: str) -> int:
    """Make or complete a self-hosted Pyodide distribution in FOLDER, with PACKAGES of its lock."""
    dist.ensure(folder, packages or pins.DEFAULT, version=version, npm=npm, note=note)
    return 0


@cli.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--port", default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="WebGPU needs 127.0.0.1, localhost or HTTPS."
)
@click.option(
    "--prefix", default="/", show_default=True, help="Serve below this path, as under a sub-path of a site."
)
@click.option("--isolate", is_flag=True, help="Send the COOP and COEP headers (tabgpu does not need them).")
@click.option(
    "--pyodide", type=click.Path(path_type=Path), metavar="DIR", help="A Pyodide distribution to serve."
)
def serve(folder: Path, port: int, host: str, prefix: str, isolate: bool, pyodide: Path | None) -> int:
    """Serve FOLDER with the right MIME types; pyodide/ and wheels/ beside its pages hold Pyodide and tabgpu."""
    where, _ = find_pyodide(pyodide)
    server = site.site_server(folder, where, host=host, port=port, prefix=prefix, isolate=isolate)
    server.log = note
    click.echo(f"{folder} at {server.url}{site.clean_prefix(prefix)}  (Ctrl+C stops)")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
    return 0


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
        console.print(f"tabgpu: {e}", style="bold red", markup=False, soft_wrap=True)
        status = e.status
    sys.exit(status)


if __name__ == "__main__":
    main()
