"""Finds and starts a browser: through Playwright, or as a plain subprocess (for hosts without Playwright)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from tabgpu.host.errors import HostError, NoBrowserError, PageCrashError

# No request may leave for the browser maker's own services, and WebGPU is on where it is still behind a flag.
FLAGS = (
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-webgpu",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


CRASHED = "the page crashed: the tab's process ended before it was done (often: out of memory)"


class Tab(Protocol):
    """One page of a running browser."""

    def pump(self, seconds: float) -> None:
        """Let the browser work; raises PageCrashError when the page is gone."""

    def screenshot(self, path: Path) -> None: ...

    def close(self) -> None: ...


def flags(adapter: str, extra: Sequence[str]) -> list[str]:
    """The browser's command line for an adapter (`default` or `swiftshader`)."""
    args = [*FLAGS]
    if sys.platform.startswith("linux") and hasattr(os, "geteuid") and os.geteuid() == 0:
        args.append("--no-sandbox")  # Chromium refuses to run as root (containers, CI) with its sandbox
    if adapter == "swiftshader":
        args.append("--use-webgpu-adapter=swiftshader")
    elif sys.platform.startswith("linux"):
        # What makes WebGPU work headless on Linux drivers: Vulkan, without the extensions for a display.
        args += [
            "--enable-features=Vulkan",
            "--use-angle=vulkan",
            "--disable-vulkan-surface",
            "--ignore-gpu-blocklist",
        ]
    return [*args, *extra]


def maybe_hardware() -> bool:
    """False only where there is surely no GPU: a Linux without any device node for one."""
    if not sys.platform.startswith("linux"):
        return True
    nodes = [Path("/dev/dri"), Path("/dev/nvidiactl"), Path("/dev/dxg"), Path("/dev/kfd"), Path("/dev/mali0")]
    return any(node.exists() for node in nodes)


def playwright_browser() -> str | None:
    """Playwright's own Chromium, if it has been downloaded."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as p:
        path = p.chromium.executable_path
    return path if path and Path(path).exists() else None


def find_browser(wanted: str | None, *, playwright: bool = True) -> str:
    """The path of the browser to start; NoBrowserError says what was looked for."""
    wanted = wanted or os.environ.get("TABGPU_BROWSER")
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise NoBrowserError(f"no browser at {wanted} (from --browser or $TABGPU_BROWSER)")
        return found
    candidates = [shutil.which(n) for n in NAMES] + [p for p in PLACES if Path(p).exists()]
    found = (playwright_browser() if playwright else None) or next((c for c in candidates if c), None)
    if found is None:
        raise NoBrowserError(
            "no browser: neither Playwright's Chromium nor one of "
            f"{', '.join(NAMES)} is installed. Run `playwright install chromium`, or give --browser PATH."
        )
    return found


class PlaywrightTab:
    """A page driven by Playwright, which also shows crashes, page errors and screenshots."""

    def __init__(self, path: str, url: str, args: Sequence[str], *, headed: bool) -> None:
        try:
            from playwright.sync_api import Error, sync_playwright
        except ImportError as e:
            raise HostError(
                "Playwright is missing: pip install 'tabgpu[host]', or use --launcher plain"
            ) from e
        self._error = Error
        self._crashed = False
        self._playwright = sync_playwright().start()
        try:
            self._browser = self._playwright.chromium.launch(
                executable_path=path, headless=not headed, args=list(args), chromium_sandbox=False
            )
            self._page = self._browser.new_page()
            self._page.on("crash", self._on_crash)
            self._page.goto(url, wait_until="commit")
        except Error as e:
            self._playwright.stop()
            raise NoBrowserError(f"{path} did not start:\n{e}") from e

    def _on_crash(self, _page: Any) -> None:
        self._crashed = True

    def pump(self, seconds: float) -> None:
        try:
            self._page.wait_for_timeout(seconds * 1000)
        except self._error as e:
            raise PageCrashError(f"{CRASHED} ({str(e).splitlines()[0]})") from e
        if self._crashed:
            raise PageCrashError(CRASHED)

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._page.screenshot(path=str(path), full_page=True)

    def close(self) -> None:
        try:
            self._browser.close()
        except self._error:
            pass  # it is gone already
        self._playwright.stop()


class PlainTab:
    """A browser subprocess; all that is known of its page is what the page posts to our server."""

    def __init__(self, path: str, url: str, args: Sequence[str], *, headed: bool) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="tabgpu-", ignore_cleanup_errors=True)
        self._log = Path(self._profile.name) / "browser.log"
        own = [f"--user-data-dir={self._profile.name}", "--remote-debugging-port=0"]
        mode = [] if headed else ["--headless=new"]
        with self._log.open("wb") as log:
            try:
                self._process = subprocess.Popen(
                    [path, *mode, *own, *args, url], stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            except OSError as e:
                raise NoBrowserError(f"{path} did not start: {e}") from e

    def pump(self, seconds: float) -> None:
        time.sleep(seconds)
        if self._process.poll() is not None:
            tail = self._log.read_text(errors="replace").splitlines()[-5:]
            raise PageCrashError(
                "\n".join([f"the browser ended with status {self._process.returncode}", *tail])
            )

    def screenshot(self, path: Path) -> None:
        raise HostError("--screenshot needs Playwright; it is not available with --launcher plain")

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()


def open_tab(
    launcher: str, browser: str | None, url: str, *, adapter: str, extra: Sequence[str], headed: bool
) -> Tab:
    """Start a browser on a URL."""
    path = find_browser(browser, playwright=launcher == "playwright")
    kind = PlainTab if launcher == "plain" else PlaywrightTab
    return kind(path, url, flags(adapter, extra), headed=headed)
