"""Files of weights: where their bytes come from, and how they get to the GPU piece by piece. No formats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from os import PathLike, fspath
from typing import Any, NamedTuple

from .. import engine
from ..array import Array
from ..dtypes import DType, uint8, uint32
from ..formats import Format
from ..graph import Cell, Op
from ..layout import Shape
from ..ops.convert import from_host
from ..ops.creation import zeros
from ..ops.manipulation import reshape
from .tensor import QTensor, same_memory

PIECE = 8 << 20  # bytes that are under way at once
NEAR = 1 << 16  # bytes that are rather fetched than asked around
HEAD = 1 << 18  # bytes of the first request

Progress = Callable[[int, int, str], object]


class WeightFileError(ValueError):
    """A file of weights is truncated or no such file; says which part of it is wrong."""


class Weights(dict[str, "Array | QTensor"]):
    """name -> Array or QTensor, in the file's order; `metadata` is what else the file says."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        super().__init__()
        self.metadata = metadata


class Entry(NamedTuple):
    """One tensor of a file: what it is, its shape, first byte and bytes. kind: a Format, a DType, or NumPy's name of a
    64-bit dtype."""

    name: str
    kind: Format | DType | str
    shape: Shape
    start: int
    nbytes: int


class Source:
    """Bytes in memory, a local file or a URL, read by ranges."""

    def __init__(self, what: Any) -> None:
        self.size: int | None = None
        self.held: Any = None
        self.into: Any = None  # JavaScript memory that reads of a URL fill one after the other
        self.path = ""
        if isinstance(what, (str, PathLike)):
            self.path = str(fspath(what))
            self.name = self.path.rpartition("/")[2][:80] or self.path
            self.remote = "://" in self.path or sys.platform == "emscripten"
            if self.remote and sys.platform == "emscripten" and "://" not in self.path:
                from os.path import exists

                self.remote = not exists(self.path)  # a relative URL, unless the tab's own file system has it
            if not self.remote:
                from os.path import getsize

                self.size = getsize(self.path)
        else:
            self.name = "the given bytes"
            js = engine.typed_array(what) == "uint8"
            self._keep(
                what if js else memoryview(what.to_memoryview() if hasattr(what, "to_memoryview") else what)
            )

    def _keep(self, data: Any) -> None:
        self.held = data.cast("B") if isinstance(data, memoryview) else data
        self.size = _length(self.held)

    async def read(self, start: int, n: int) -> Any:
        """Bytes start..start+n-1, or what there is of them: a memoryview, or a JavaScript Uint8Array (until the next
        read)."""
        if not n:
            return memoryview(b"")
        if self.held is None and self.remote:
            end = start + n
            data, total, whole, self.into = await engine.fetch_range(self.path, start, end, self.into)
            if not whole:
                self.size = total if total is not None else self.size
                return data
            self._keep(data)
        if self.held is not None:
            return part(self.held, start, start + n)
        with open(self.path, "rb") as file:
            file.seek(start)
            return memoryview(file.read(n))

    async def exactly(self, start: int, n: int, what: str) -> Any:
        """read(), all of it; WeightFileError where the file ends before."""
        data = await self.read(start, n)
        if _length(data) < n:
            raise self.ends(start + _length(data), start + n, what)
        return data

    def ends(self, at: int, need: int, what: str) -> WeightFileError:
        return WeightFileError(f"{self.name} is truncated: it ends after {at:,} bytes, {what} needs {need:,}")


def _length(data: Any) -> int:
    return int(data.nbytes) if isinstance(data, memoryview) else int(data.length)


def part(data: Any, start: int, end: int) -> Any:
    """A slice of what `read` gives, without a copy."""
    return data[start:end] if isinstance(data, memoryview) else data.subarray(start, end)


def host(data: Any) -> bytes:
    """What `read` gives, in Python's memory."""
    return bytes(data) if isinstance(data, memoryview) else bytes(data.to_bytes())


def wanted(entries: list[Entry], names: Any, source: Source) -> list[Entry]:
    """The entries that `names` (names, or a function of a name) picks; KeyError for one that is not there."""
    if names is None:
        return entries
    if callable(names):
        return [e for e in entries if names(e.name)]
    asked: Iterable[str] = [names] if isinstance(names, str) else names
    known = {e.name for e in entries}
    picked = list(asked)
    for name in picked:
        if name not in known:
            raise KeyError(f"{source.name} has no tensor {name!r}")
    chosen = set(picked)
    return [e for e in entries if e.name in chosen]


async def load(
    source: Source, entries: list[Entry], metadata: dict[str, Any], progress: Progress | bool | None
) -> Weights:
    """The tensors on the GPU. At most about PIECE bytes are in memory at once; nothing stays of a load that fails."""
    for e in entries:
        if source.size is not None and e.start + e.nbytes > source.size:
            raise source.ends(source.size, e.start + e.nbytes, f"tensor {e.name!r}")
    tell = _bar(source.name) if progress is True else progress or None
    total, done = sum(e.nbytes for e in entries), 0
    made = Weights(metadata)
    made.update(dict.fromkeys([e.name for e in entries]))  # type: ignore[arg-type]  # the file's order
    words: Array | None = None
    try:
        for group in _groups(sorted(entries, key=lambda e: e.start)):
            first, last = group[0], group[-1]
            if first.nbytes > PIECE and not isinstance(first.kind, str):
                words = zeros(((first.nbytes + 3) // 4,), dtype=uint32)
                for at in range(0, first.nbytes, PIECE):
                    n = min(PIECE, first.nbytes - at)
                    data = await source.exactly(first.start + at, n, f"tensor {first.name!r}")
                    words[at // 4 : (at + n + 3) // 4] = _uploaded(data, uint32, (n + 3) // 4)  # type: ignore[index]
                    engine.flush()
                    done += n
                    if tell:
                        tell(done, total, first.name)
                made[first.name] = _named(first, words)
                words = None
                continue
            end = max(e.start + e.nbytes for e in group)
            data = await source.exactly(first.start, end - first.start, f"tensor {last.name!r}")
            for e in group:
                at = e.start - first.start
                made[e.name] = _tensor(e, part(data, at, at + e.nbytes), source)
                done += e.nbytes
                if tell:
                    tell(done, total, e.name)
    except BaseException:
        made.clear()  # whoever keeps the traceback keeps no memory of the GPU
        words = None
        raise
    return made


def _groups(entries: list[Entry]) -> list[list[Entry]]:
    """Tensors that one read brings: neighbours, up to PIECE bytes."""
    groups: list[list[Entry]] = []
    end = 0
    for e in entries:
        last, end = end, e.start + e.nbytes
        if groups:
            end = max(last, end)  # tensors may overlap
            if e.start - last <= NEAR and end - groups[-1][0].start <= PIECE:
                groups[-1].append(e)
                continue
        groups.append([e])
        end = e.start + e.nbytes
    return groups


def _uploaded(data: Any, dtype: DType, n: int) -> Array:
    op: Op = engine.upload(data, dtype, (n,), "load")
    return Array(dtype, op.layout, Cell(op))


def _tensor(e: Entry, data: Any, source: Source) -> Array | QTensor:
    if isinstance(e.kind, str):
        import numpy as np

        try:
            return from_host(np.frombuffer(host(data), e.kind).reshape(e.shape), f"{source.name}: {e.name!r}")
        except OverflowError as error:
            raise WeightFileError(str(error)) from None
    if not e.nbytes:
        return (
            zeros(e.shape, dtype=e.kind)
            if isinstance(e.kind, DType)
            else QTensor(zeros((0,), dtype=uint8), e.kind, e.shape)
        )
    dtype = e.kind if isinstance(e.kind, DType) else uint8
    return _shaped(e, _uploaded(data, dtype, e.nbytes // dtype.itemsize))


def _named(e: Entry, words: Array) -> Array | QTensor:
    dtype = e.kind if isinstance(e.kind, DType) else uint8
    return _shaped(e, same_memory(words, dtype, e.nbytes // dtype.itemsize))


def _shaped(e: Entry, flat: Array) -> Array | QTensor:
    return QTensor(flat, e.kind, e.shape) if isinstance(e.kind, Format) else reshape(flat, e.shape)


def _bar(name: str) -> Progress:
    """A line of text that grows."""

    def tell(done: int, total: int, what: str) -> None:
        filled = 30 * done // max(total, 1)
        line = f"\r{name} [{'#' * filled}{'.' * (30 - filled)}] {done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
        print(line, end="\n" if done == total else "", file=sys.stderr, flush=True)

    return tell
