"""Parts of files by HTTP range requests: the bridge's fetch in a tab, urllib elsewhere."""

from __future__ import annotations

import sys
from typing import Any


async def fetch_range(
    js: Any, url: str, first: int, end: int, into: Any = None
) -> tuple[Any, int | None, bool, Any]:
    """(bytes first..end-1 of a URL or what there is of them, the file's size if the server tells it, False, memory).

    A server that knows no ranges gives the whole file, then with True. In a tab the bytes are a JavaScript Uint8Array,
    which never enters Python's memory; it lies in `memory`, which the next call may take as `into`. OSError if there is
    no such file.
    """
    if sys.platform == "emscripten":
        from pyodide.ffi import JsException

        try:
            status, about, into, n = await js.fetchRange(url, first, end, into)
        except JsException as error:
            raise OSError(f"{url}: {error}") from None
        data = into.subarray(0, n)
    else:
        import asyncio

        status, about, data = await asyncio.to_thread(_read, url, {"Range": f"bytes={first}-{end - 1}"})
    if status not in (200, 206, 416):
        raise OSError(f"{url}: HTTP status {status}")
    total = str(about or "").rpartition("/")[2]
    return data, int(total) if total.isdigit() else None, status == 200, into


def _read(url: str, headers: dict[str, str]) -> tuple[int, str | None, memoryview]:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers=headers)) as got:
            return got.status, got.headers.get("Content-Range"), memoryview(got.read())
    except HTTPError as error:
        return error.code, error.headers.get("Content-Range"), memoryview(b"")
