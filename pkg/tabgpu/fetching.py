"""Parts of files by HTTP range requests: the browser's fetch in a tab, urllib elsewhere."""

from __future__ import annotations

import sys
from typing import Any


async def fetch_range(url: str, first: int, end: int) -> tuple[Any, int | None, bool]:
    """(bytes first..end-1 of a URL or what there is of them, the file's size if the server tells it, False).

    A server that knows no ranges gives the whole file, then with True. In a tab the bytes are a JavaScript Uint8Array,
    which never enters Python's memory. OSError if there is no such file.
    """
    headers = {"Range": f"bytes={first}-{end - 1}"}
    if sys.platform == "emscripten":
        from pyodide.code import run_js
        from pyodide.http import pyfetch

        got = await pyfetch(url, headers=headers)
        status, about = int(got.status), got.js_response.headers.get("Content-Range")
        bytes_of = run_js("(buffer) => new Uint8Array(buffer)")
        data = bytes_of(await got.js_response.arrayBuffer()) if status in (200, 206) else b""
    else:
        import asyncio

        status, about, data = await asyncio.to_thread(_read, url, headers)
    if status not in (200, 206, 416):
        raise OSError(f"{url}: HTTP status {status}")
    total = str(about or "").rpartition("/")[2]
    return data, int(total) if total.isdigit() else None, status == 200


def _read(url: str, headers: dict[str, str]) -> tuple[int, str | None, bytes]:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers=headers)) as got:
            return got.status, got.headers.get("Content-Range"), got.read()
    except HTTPError as error:
        return error.code, error.headers.get("Content-Range"), b""
