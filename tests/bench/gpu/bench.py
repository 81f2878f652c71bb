"""Raw kernels on a real GPU: starts a browser on www/, writes each line that the page posts and prints a table.

    python3 tests/bench/gpu/bench.py --out gpu.jsonl -- $CHROME_GPU_ARGS

The browser is --chrome or $CHROME. Standard library only: a GPU host need not have anything else. tabgpu itself is
measured by `tabgpu bench`, and beside its peers by tests/bench/peers.
"""

import argparse
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import jobs  # noqa: E402

WWW = Path(__file__).parent / "www"
FLAGS = (
    "--headless --no-sandbox --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-gpu-watchdog --remote-debugging-port=0"
    " --enable-unsafe-webgpu"
).split()
TYPES = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
}


class Run:
    """What the pages have said so far."""

    def __init__(self, out: Path) -> None:
        self.out = out.open("a", encoding="utf-8")
        self.rows: list[dict[str, Any]] = []
        self.ended = False
        self.last = self.start = time.time()
        self.current = ""

    def line(self, line: dict[str, Any]) -> None:
        self.last = time.time()
        kind = line["t"]
        if kind == "begin":
            self.current = f"{line['item']} {line['id']}"
            return
        self.ended |= kind == "end"
        self.rows.append(line)
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()
        print(f"[{self.last - self.start:6.1f}] {brief(line)}", flush=True)


def brief(line: dict[str, Any]) -> str:
    """One line for a person."""
    if line["t"] != "raw":
        return json.dumps(line)[:400]
    head = f"{line['item']:16} {line['id']:40}"
    if "fail" in line:
        return f"{head} FAIL {line['fail'][-600:]}"
    rate = f"{line['tflops']:7.2f} TFLOP/s" if line["tflops"] else f"{line['gbs']:7.0f} GB/s"
    extra = f" compile {line['compile_ms']:.0f} ms" if "compile_ms" in line else ""
    wrong = "" if line["error"] <= 1 else " WRONG"
    extra = f" k={line['k']} error/allowed {line['error']:.2g}" + extra
    return f"{head} {line['median_ms']:9.4f} ms {rate}{extra}{wrong}"


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that is ended drops its connections: not worth a traceback among the results."""


def handler(run: Run, todo: dict[str, Any]) -> type:
    """www/ at the root, the jobs at /todo, results to /line."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | TYPES
        protocol_version = "HTTP/1.1"

        def translate_path(self, path: str) -> str:
            return str(WWW / (Path(path.split("?")[0]).name or "index.html"))

        def end_headers(self) -> None:
            # An isolated page has a finer clock (5 us instead of 100 us).
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            self.send_header("Cache-Control", "no-store")
            super().end_headers()

        def answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            if self.path == "/todo":
                self.answer(json.dumps(todo).encode())
            else:
                super().do_GET()

        def do_POST(self) -> None:
            line = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(b"{}")
            run.line(line)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def visit(run: Run, chrome: str, extra: list[str], url: str, hang: float, total: float) -> str | None:
    """One browser on one page, until the page ends; otherwise the reason why it was stopped."""
    run.ended, run.last, run.current = False, time.time(), ""
    profile = tempfile.mkdtemp(prefix="tabgpu-bench-")
    with open(os.devnull, "w", encoding="utf-8") as null:
        command = [chrome, *FLAGS, f"--user-data-dir={profile}", *extra, url]
        browser = subprocess.Popen(command, stdout=null, stderr=null, start_new_session=True)
    try:
        while not run.ended:
            time.sleep(0.1)
            if browser.poll() is not None:
                return f"the browser ended with {browser.returncode} at {run.current or 'its start'}"
            if time.time() - run.last > hang:
                return f"no news for {hang:.0f} s at {run.current or 'its start'}"
            if time.time() - run.start > total:
                return f"time was up at {run.current}"
        return None
    finally:
        try:
            os.killpg(browser.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        browser.wait()
        shutil.rmtree(profile, ignore_errors=True)


def table(rows: list[dict[str, Any]]) -> str:
    """The best kernel of each item, as Markdown."""
    good = [r for r in rows if r["t"] == "raw" and "fail" not in r and r["error"] <= 1]
    out = ["| item | best raw kernel | ms | rate |", "|---|---|---|---|"]
    for item in dict.fromkeys(r["item"] for r in good):
        best = min((r for r in good if r["item"] == item), key=lambda r: r["median_ms"])
        out.append(f"| {item} | `{best['id']}` | {best['median_ms']:.4g} | {rate(best)} |")
    return "\n".join(out)


def rate(row: dict[str, Any]) -> str:
    return f"{row['tflops']:.2f} TFLOP/s" if row["tflops"] else f"{row['gbs']:.0f} GB/s"


def main() -> int:
    argv, extra = sys.argv[1:], []
    if "--" in argv:
        at = argv.index("--")
        argv, extra = argv[:at], argv[at + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chrome", default=os.environ.get("CHROME", "chromium"))
    parser.add_argument("--out", type=Path, default=Path("gpu.jsonl"))
    parser.add_argument("--only", default="", help="only the raw jobs whose item or id holds this text")
    parser.add_argument("--small", action="store_true", help="small sizes: a dry run on a CPU adapter")
    parser.add_argument("--reps", type=int, default=9)
    parser.add_argument("--target", type=float, default=60, help="ms a timed block should take")
    parser.add_argument("--heat", type=float, default=150, help="ms of GPU work before a timed block")
    parser.add_argument(
        "--hang", type=float, default=60, help="seconds without news after which a page is given up"
    )
    parser.add_argument("--total", type=float, default=500, help="seconds for everything")
    a = parser.parse_args(argv)

    options = {"small": a.small, "reps": a.reps, "target": a.target, "heatMs": a.heat, "maxK": 400}
    picked = [j for j in jobs.jobs(a.small) if a.only in f"{j['item']} {j['id']}"]
    todo = {"options": options, "jobs": picked}
    a.out.parent.mkdir(parents=True, exist_ok=True)
    run = Run(a.out)
    server = Server(("127.0.0.1", 0), handler(run, todo))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/index.html"
    why = visit(run, a.chrome, extra, url, a.hang, a.total)
    if why:
        print("!!", why)
    print(table(run.rows))
    bad = [r for r in run.rows if r["t"] == "fatal" or "fail" in r or r.get("error", 0) > 1]
    return 1 if why or bad or not run.rows else 0


if __name__ == "__main__":
    sys.exit(main())
