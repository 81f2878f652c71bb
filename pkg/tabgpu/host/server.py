"""The HTTP server of the host command: folders, bytes made on the fly, and the page's reports back."""

from __future__ import annotations

import json
import posixpath
import queue
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

# Browsers refuse modules and streaming WebAssembly under other types; Python's own table depends on the system.
MIME_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".ipynb": "application/json",
    ".wasm": "application/wasm",
    ".wgsl": "text/plain; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".whl": "application/zip",
    ".zip": "application/zip",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}

Make = Callable[[], bytes]


def mime_type(name: str) -> str:
    """The Content-Type for a file name."""
    return MIME_TYPES.get(posixpath.splitext(name)[1].lower(), "application/octet-stream")


class TabServer:
    """Serves folders under URL prefixes and single documents, and collects the page's events in a queue.

    `folders` maps a prefix such as "/pyodide/" to a directory; several directories under one prefix are tried in
    order. `documents` maps a path to a function that makes its bytes. Under `/event`, `/out/NAME` and `/alive` of
    `control` (a prefix) the page reports: JSON events, files, and a connection that ends when the page does.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, isolate: bool = False) -> None:
        self.folders: list[tuple[str, Path]] = []
        self.documents: dict[str, Make] = {}
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()
        self.out: dict[str, bytes] = {}
        self.control: str | None = None
        self.isolate = isolate
        self.log: Callable[[str], None] | None = None
        self._http = ThreadingHTTPServer((host, port), self._handler())
        self._http.daemon_threads = True
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        host, port = self._http.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}"

    def start(self) -> None:
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    def serve_forever(self) -> None:
        self._http.serve_forever()

    def stop(self) -> None:
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def find(self, path: str) -> Path | None:
        """The file that a URL path names, or None; never outside the served folders."""
        for prefix, folder in self.folders:
            if not path.startswith(prefix):
                continue
            parts = [p for p in path[len(prefix) :].split("/") if p not in ("", ".")]
            if any(p == ".." or "\\" in p or ":" in p for p in parts):
                return None
            file = folder.joinpath(*parts)
            if file.is_dir():
                file = file / "index.html"
            if file.is_file():
                return file
        return None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(_Handler):
            server_state = outer

        return Handler


class _Handler(BaseHTTPRequestHandler):
    server_state: TabServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_POST(self) -> None:
        state, path = self.server_state, unquote(urlsplit(self.path).path)
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if state.control is None or not path.startswith(state.control):
            return self._send(405, b"", "text/plain")
        name = path[len(state.control) :]
        if name == "event":
            state.events.put(json.loads(data))
        elif name.startswith("out/"):
            state.out[name[4:]] = data
        else:
            return self._send(404, b"", "text/plain")
        self._send(204, None, "text/plain")

    def _answer(self, *, body: bool) -> None:
        state, path = self.server_state, unquote(urlsplit(self.path).path)
        if state.control is not None and path == state.control + "alive":
            return self._alive()
        if path in state.documents:
            return self._send(200, state.documents[path](), mime_type(path), body=body)
        file = state.find(path)
        if file is None:
            return self._send(404, f"not here: {path}\n".encode(), "text/plain", body=body)
        if file.name == "index.html" and not path.endswith(("/", "/index.html")):
            self.send_response(301)  # so that the page's relative URLs start at its own folder
            self.send_header("Location", path + "/")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self._send(200, file.read_bytes(), mime_type(file.name), body=body)

    def _send(self, status: int, data: bytes | None, kind: str, *, body: bool = True) -> None:
        self.send_response(status)
        if data is not None:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-cache")
        if self.server_state.isolate:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.end_headers()
        if data and body:
            try:
                self.wfile.write(data)
            except ConnectionError:
                self.close_connection = True

    def _alive(self) -> None:
        """Hold the connection open; its end says that the page's process ended, whatever the browser says."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        try:
            self.wfile.write(b"alive\n")
            self.wfile.flush()
            self.connection.settimeout(None)
            while self.connection.recv(64):
                pass
        except (TimeoutError, OSError):
            pass
        self.server_state.events.put({"type": "gone"})

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            pass

    def log_message(self, format: str, *args: Any) -> None:
        if self.server_state.log is not None:
            self.server_state.log(format % args)
