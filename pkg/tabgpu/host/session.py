"""One job in one tab: starts the server and the browser, follows the page's events, gives the exit status."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tabgpu.host import browser, wheel
from tabgpu.host.errors import GpuUnusedError, NoAdapterError, PageCrashError, TabTimeoutError
from tabgpu.host.server import TabServer

ROOT = "/home/pyodide"
START_LIMIT = 180.0
HERE = Path(__file__).resolve().parent
NO_ADAPTER_HELP = (
    "In Chrome or Edge look at chrome://gpu and at chrome://flags/#enable-unsafe-webgpu; on a machine without a GPU "
    "use --adapter swiftshader. --browser-arg may have switched WebGPU off. Firefox: dom.webgpu.enabled."
)


@dataclass(frozen=True)
class Launch:
    """How to start the browser."""

    browser: str | None = None
    browser_args: tuple[str, ...] = ()
    launcher: str = "playwright"
    adapter: str = "default"
    headed: bool = False


@dataclass(frozen=True)
class Job:
    """What the tab shall do; the page reads it as job.json."""

    mode: str
    script: str = ""
    args: tuple[str, ...] = ()
    worker: bool = False
    packages: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    allow_no_gpu: bool = False

    def as_json(self) -> bytes:
        fields = asdict(self)
        fields |= {"allowNoGpu": self.allow_no_gpu, "root": ROOT, "pyodide": "/pyodide/"}
        return json.dumps(fields).encode()


@dataclass
class Outcome:
    """How it ended: the status of the script or of pytest, and what was seen of the GPU."""

    status: int
    submits: int
    adapter: dict[str, Any]
    out: dict[str, bytes]


def run_job(
    job: Job,
    launch: Launch,
    *,
    pyodide: Path | None = None,
    files: dict[str, bytes] | None = None,
    wheels: dict[str, bytes] | None = None,
    timeout: float | None = None,
    screenshot: Path | None = None,
    output: Callable[[str, str], None],
    note: Callable[[str], None],
) -> Outcome:
    """Run a job to its end. `output(stream, text)` gets the tab's output, `note(text)` what the host has to say."""
    server = TabServer()
    server.control = "/run/"
    server.folders = [("/run/", HERE / "tab")]
    if pyodide is not None:
        server.folders.append(("/pyodide/", pyodide))
    archive = wheel.pack_zip(files or {})
    server.documents = {"/run/job.json": job.as_json, "/run/files.zip": lambda: archive}
    for name, data in (wheels or {}).items():
        server.documents["/wheels/" + name] = lambda data=data: data  # type: ignore[misc]
    server.start()
    try:
        return _with_adapter(job, launch, server, timeout, screenshot, output, note)
    finally:
        server.stop()


def _with_adapter(
    job: Job,
    launch: Launch,
    server: TabServer,
    timeout: float | None,
    screenshot: Path | None,
    output: Callable[[str, str], None],
    note: Callable[[str], None],
) -> Outcome:
    """Try the hardware first, then the software adapter, and say which one it was."""
    adapters = [launch.adapter]
    if launch.adapter == "default":
        adapters = ["default", "swiftshader"] if browser.maybe_hardware() else ["swiftshader"]
    for last, adapter in ((a == adapters[-1], a) for a in adapters):
        if launch.adapter == "default" and adapter == "swiftshader":
            note("no hardware GPU: using the software adapter (SwiftShader)")
        tab = browser.open_tab(
            launch.launcher,
            launch.browser,
            server.url + "/run/",
            adapter=adapter,
            extra=launch.browser_args,
            headed=launch.headed,
        )
        follower = _Follower(job, server, tab, timeout, output, note)
        try:
            outcome = follower.follow()
            if not outcome.adapter["ok"] and not last:
                continue
            if screenshot is not None:
                tab.screenshot(screenshot)
        except NoAdapterError:
            if last:
                raise
            continue
        finally:
            tab.close()
            _drain(server)
        return outcome
    raise AssertionError("unreachable: the last adapter either returns or raises")


def _drain(server: TabServer) -> None:
    """Forget the events of a closed tab, among them its own goodbye."""
    time.sleep(0.05)
    while not server.events.empty():
        server.events.get_nowait()


class _Follower:
    """Reads the page's events until the job's end."""

    def __init__(
        self,
        job: Job,
        server: TabServer,
        tab: browser.Tab,
        timeout: float | None,
        output: Callable[[str, str], None],
        note: Callable[[str], None],
    ) -> None:
        self.job, self.server, self.tab, self.timeout = job, server, tab, timeout
        self.output, self.note = output, note
        self.adapter: dict[str, Any] = {}
        self.deadline = time.monotonic() + START_LIMIT
        self.started = False

    def follow(self) -> Outcome:
        while True:
            try:
                event = self.server.events.get_nowait()
            except queue.Empty:
                if time.monotonic() > self.deadline:
                    self._too_late()
                self.tab.pump(0.02)
                continue
            outcome = self._handle(event)
            if outcome is not None:
                return outcome

    def _too_late(self) -> None:
        if self.started:
            raise TabTimeoutError(f"timeout: not finished after {self.timeout:g} s; the tab was closed")
        raise PageCrashError(f"the page did not start Python within {START_LIMIT:g} s")

    def _handle(self, event: dict[str, Any]) -> Outcome | None:
        kind = event["type"]
        if kind == "output":
            for stream, text in event["chunks"]:
                self.output(stream, text)
        elif kind == "console":
            self.note(event["text"])
        elif kind == "adapter":
            self._on_adapter(event)
        elif kind == "ready":
            self.started = True
            self.deadline = time.monotonic() + (self.timeout if self.timeout is not None else float("inf"))
        elif kind == "fatal":
            raise PageCrashError(f"the tab failed outside Python:\n{event['message']}")
        elif kind == "gone":
            raise PageCrashError(browser.CRASHED)
        elif kind == "end":
            return Outcome(event["status"], event["submits"], self.adapter, dict(self.server.out))
        return None

    def _on_adapter(self, event: dict[str, Any]) -> None:
        self.adapter = event
        if not event["ok"] and self.job.mode != "probe" and not self.job.allow_no_gpu:
            raise no_adapter(event)


def no_adapter(probe: dict[str, Any]) -> NoAdapterError:
    """The error for a page that found no adapter, with what to look at."""
    return NoAdapterError(f"no WebGPU: {probe['why']}.\n{NO_ADAPTER_HELP}")


def require_gpu(outcome: Outcome) -> None:
    """Refuse a success without any work for the GPU."""
    if outcome.status == 0 and outcome.submits == 0:
        raise GpuUnusedError(
            "nothing was submitted to the GPU queue, so this run shows nothing about the GPU "
            "(--allow-no-gpu accepts such a run)"
        )
