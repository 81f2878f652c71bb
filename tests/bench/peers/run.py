#!/usr/bin/env python3
"""Measures tabgpu and its peers in one page of a headless browser, and writes what the page posts, one JSON line each.

    python3 tests/bench/peers/run.py --out sw.jsonl --profile sw -- --use-webgpu-adapter=swiftshader

Serves www/ and dist/ (made by tools/make_dist.py). A page that falls silent is ended with its browser, and a new one
goes on behind the cell that hung. What follows `--` goes to the browser. Standard library only; README.md says more.
"""

import argparse
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OURS = "tabgpu,tabgpu+nofuse,tabgpu+jit,tabgpu+jit+nofuse"
PEERS = f"{OURS},tfjs,ort,ort+,ort+23,ort+gc,ortjspi,jaxjs,jaxjs+,pyborch,raw,raw+"
# Variants of a peer run only where they differ from it: the starts of the items' names.
ONLY = {
    "tabgpu+nofuse": ("tiny",), "tabgpu+jit": ("tiny",), "tabgpu+jit+nofuse": ("tiny",),
    "ort+": ("conv", "attn", "tiny"), "ort+gc": ("tiny",), "ort+23": ("attn",), "jaxjs+": ("tiny",),
    "jaxjs+one": ("tiny",), "raw+": ("tiny",), "ortjspi": ("tiny", "readback", "mm256", "mm1024"),
}  # fmt: skip
# What was seen to give no answer within a minute.
NEVER = {("pyborch", "sort_20"), ("pyborch", "argsort_20")}
FLAGS = (
    "--headless --no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update"
    " --disable-sync --disable-gpu-watchdog --disable-gpu-process-crash-limit --remote-debugging-port=0"
    " --enable-unsafe-webgpu"
).split()
TYPES = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
    ".py": "text/plain",
}
Cell = list[str]  # [item, peer]


def module(peer: str) -> str:
    """The file of www/peers that a peer or a variant of one lives in."""
    return "ort" if peer.startswith("ort") else peer.split("+")[0]


def profiles() -> dict[str, list[str]]:
    """The lists of items at the end of spec.mjs."""
    text = (HERE / "www" / "spec.mjs").read_text(encoding="utf-8")
    found = re.findall(r"^  (\w+): \[\n?(.*?)\],$", text[text.index("export const profiles") :], re.M | re.S)
    return {name: re.findall(r"'(\w+)'", items) for name, items in found}


class Run:
    """What is to be measured, and what the pages have said so far."""

    def __init__(self, a: argparse.Namespace, browser_args: list[str]) -> None:
        self.a, self.browser_args = a, browser_args
        peers, late = (([p for p in text.split(",") if p]) for text in (a.peers, a.last))
        names = a.items.split(",") if a.items else profiles()[a.profile]
        self.cells: list[Cell] = [
            [i, p] for i in names for p in peers
            if (p not in ONLY or i.startswith(ONLY[p])) and (p, i) not in NEVER
        ]  # fmt: skip
        self.cells += [[i, p] for i in names for p in late if (p, i) not in NEVER]
        self.peers = peers + late
        self.out = open(a.out, "a", encoding="utf-8")
        self.lock = threading.Lock()
        self.start = self.news = time.time()
        self.current: Cell | None = None
        self.ended = False
        self.sizes: dict[str, int] = {}  # bytes of each file that was fetched
        self.browser: tuple[subprocess.Popen[bytes], str] | None = None

    def todo(self) -> bytes:
        a = self.a
        options = {"target": a.target, "maxK": a.maxk, "heat": a.heat, "reps": a.reps, "cell": a.cell}
        return json.dumps(
            {**options, "peers": {p: module(p) for p in self.peers}, "cells": self.cells}
        ).encode()

    def emit(self, line: dict[str, Any]) -> None:
        line = ({"tag": self.a.tag} if self.a.tag else {}) | line
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def hear(self, line: dict[str, Any]) -> None:
        """A line that the page posted."""
        with self.lock:
            self.news = time.time()
            kind = line.get("t")
            if kind == "begin":
                self.current = [line["item"], line["peer"]]
            elif kind == "cell":
                self.current = None
                if [line["item"], line["peer"]] in self.cells:
                    self.cells.remove([line["item"], line["peer"]])
            elif kind == "pagedone":
                self.ended = True
            elif kind == "startup":
                line["bytes"] = dict(self.sizes)
            if kind not in ("begin", "pagedone"):
                self.emit(line)
        if kind == "cell":
            print(f"[{time.time() - self.start:6.1f}] {brief(line)}", flush=True)
        elif kind not in ("begin", "pagedone", "device", "adapter"):
            print(json.dumps(line)[:600], flush=True)

    def visit(self, address: str) -> str | None:
        """One browser on one page until that is done; otherwise why it was ended."""
        with self.lock:
            self.current, self.ended, self.sizes, self.news = None, False, {}, time.time()
        profile = tempfile.mkdtemp(prefix="bench-peers-")
        command = [self.a.chrome, *FLAGS, f"--user-data-dir={profile}", *self.browser_args, address]
        with open(f"{self.a.out}.chrome.log", "ab") as log:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        self.browser = process, profile
        try:
            while not self.ended:
                time.sleep(0.1)
                if process.poll() is not None:
                    return f"browser exit {process.returncode}"
                if time.time() - self.news > self.a.hang:
                    return f"no news for {self.a.hang:g} s"
                if time.time() - self.start > self.a.total:
                    return "total time up"
            time.sleep(0.2)
            return None
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends the browser: the process group that was started for it, no other."""
        if self.browser is None:
            return
        process, profile = self.browser
        self.browser = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def brief(line: dict[str, Any]) -> str:
    """One line for a person."""
    head = f"{line['item']:18} {line['peer']:14} "
    per_op = line.get("per_op_ms")
    if not per_op:
        return head + str(line.get("none") or f"FAIL {line.get('fail')}")
    whole = line.get("e2e_ms", {}).get("med", float("nan"))
    head += f"{per_op['med']:.4g} ms (K={line['K']}, n={per_op['n']}) one {line['one_ms']['med']:.4g} e2e {whole:.4g}"
    head += f" err {line.get('err')}"
    if "launches_per_op" in line:
        head += f" launches {line['launches_per_op']:.3g}"
    errors = line.get("gpuErrors")
    return head + (" WRONG" if line.get("wrong") else "") + (f" GPUERR {errors[0][:150]}" if errors else "")


def handler(run: Run) -> type[http.server.BaseHTTPRequestHandler]:
    """www/ at the root, dist/ beside it, the work at /todo; the page posts its lines."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | TYPES
        protocol_version = "HTTP/1.1"

        def translate_path(self, path: str) -> str:
            parts = [p for p in path.split("?")[0].split("/") if p not in ("", "..")]
            if parts and parts[0] == "models":
                parts.insert(0, "dist")
            if parts and parts[0] == "dist":
                return str(Path(run.a.dist, *parts[1:]))
            return str(Path(HERE, "www", *(parts or ["index.html"])))

        def end_headers(self) -> None:
            # An isolated page has a finer clock.
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            self.send_header("Cache-Control", "no-store")
            super().end_headers()

        def do_GET(self) -> None:
            if self.path == "/todo":
                body = run.todo()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return
            file = self.translate_path(self.path)
            if os.path.isfile(file):
                with run.lock:
                    run.sizes[self.path.split("?")[0]] = os.path.getsize(file)
            super().do_GET()

        def do_POST(self) -> None:
            line = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            run.hear(line)

        def log_message(self, *args: object) -> None:
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that is ended drops its connections: not worth a traceback among the results."""


def measure(run: Run, url: str) -> None:
    """All cells; after a hang or a crash a new browser goes on behind the cell that was being measured."""
    for _ in range(30):
        if not run.cells or time.time() - run.start > run.a.total:
            break
        why = run.visit(f"{url}?mode=bench")
        if why is None:
            break
        current = run.current
        print("!!", why, "at", current, flush=True)
        if why == "total time up":
            break
        if current in run.cells:
            run.cells.remove(current)
            run.emit({"t": "cell", "item": current[0], "peer": current[1], "fail": why})
    for item, peer in run.cells:
        run.emit({"t": "cell", "item": item, "peer": peer, "none": "not run: time was up"})


def start_up(run: Run, url: str) -> None:
    """Time from the page's load to the first result, in a new browser each."""
    for _ in range(run.a.rounds):
        for peer in run.peers:
            if time.time() - run.start > run.a.total:
                return
            why = run.visit(f"{url}?mode=startup&peer={peer.replace('+', '%2B')}&mod={module(peer)}")
            if why is not None:
                run.emit({"t": "startup", "peer": peer, "fail": why})
                print(peer, why, flush=True)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--chrome", default=os.environ.get("CHROME", "chromium"))
    add("--out", default="peers.jsonl")
    add("--dist", default=str(HERE / "dist"))
    add("--mode", default="bench", choices=["bench", "startup", "adapter"])
    add("--profile", default="sw", help="a list of items at the end of www/spec.mjs")
    add("--items", default="", help="these items instead")
    add("--peers", default=PEERS)
    add("--last", default="numpy", help="peers that run after all others")
    add("--tag", default="", help="a word to mark each line with")
    add("--rounds", type=int, default=3, help="start-up: how often each peer")
    add("--target", type=float, default=40, help="ms that a timed block should take")
    add("--maxk", type=int, default=64, help="operations in a timed block at most")
    add("--heat", type=float, default=0, help="ms of GPU work before a timed block, so that clocks are up")
    add("--reps", type=int, default=9)
    add("--cell", type=float, default=6000, help="ms after which a cell stops repeating")
    add("--hang", type=float, default=90, help="s without news after which a browser is ended")
    add("--total", type=float, default=3000, help="s for everything")
    return parser


def main() -> int:
    argv, browser_args = sys.argv[1:], []
    if "--" in argv:
        at = argv.index("--")
        argv, browser_args = argv[:at], argv[at + 1 :]
    run = Run(options().parse_args(argv), browser_args)
    server = Server(("127.0.0.1", 0), handler(run))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def quit_now(*_: object) -> None:
        run.stop()
        os._exit(143)

    signal.signal(signal.SIGTERM, quit_now)
    signal.signal(signal.SIGINT, quit_now)
    url = f"http://127.0.0.1:{server.server_port}/index.html"
    if run.a.mode == "adapter":
        print("adapter", run.visit(f"{url}?mode=adapter") or "ok")
    elif run.a.mode == "startup":
        start_up(run, url)
    else:
        measure(run, url)
    print("seconds", round(time.time() - run.start, 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
