"""GGUF files: their header (a reader of the documented layout, versions 2 and 3), and load_gguf.

Not the gguf package's reader: it maps a file of full size, makes ten NumPy views a string (11 s on a desktop for
the 3 MB header of a model with 150,000 tokens) and brings PyYAML, requests and tqdm along. Tests compare the two.
"""

from __future__ import annotations

from math import prod
from struct import calcsize, unpack_from
from typing import Any

from ..dtypes import DType, bfloat16, float16, float32, int8, int16, int32
from ..formats import FORMATS, Format
from .files import HEAD, Entry, Progress, Source, WeightFileError, Weights, host, load, wanted

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
DEEPEST = 16  # arrays within arrays
_KINDS: dict[int, Format | DType | str] = {
    0: float32, 1: float16, 24: int8, 25: int16, 26: int32, 27: "int64", 28: "float64", 30: bfloat16,
    **{k: FORMATS[n] for k, n in ((2, "q4_0"), (3, "q4_1"), (6, "q5_0"), (7, "q5_1"), (8, "q8_0"), (10, "q2_k"))},
    **{k: FORMATS[n] for k, n in ((11, "q3_k"), (12, "q4_k"), (13, "q5_k"), (14, "q6_k"))},
}  # fmt: skip


async def load_gguf(source: Any, *, names: Any = None, progress: Progress | bool | None = None) -> Weights:
    """The tensors of a GGUF file by name, streamed to the GPU: `weights = await tg.quant.load_gguf(url)`.

    source: a URL (read by HTTP range requests, of which only what is asked for is fetched), a path, or bytes.
    names: names of tensors, or a function that picks them. progress: called with (bytes done, bytes in all, name);
    True prints a bar. Block formats come as QTensor, F32, F16, BF16 and integers as Arrays (64-bit values as 32-bit
    ones), shapes as NumPy has them; `weights.metadata` holds the file's keys.
    WeightFileError for a file that is truncated or no GGUF file, OSError where there is none; then nothing stays.
    """
    file = source if isinstance(source, Source) else Source(source)
    n = HEAD
    while True:
        head = host(await file.read(0, n))
        try:
            metadata, found, unknown = parse(head, file)
            break
        except _More:
            if len(head) < n or (file.size is not None and n >= file.size):
                raise file.ends(len(head), len(head) + 1, "its header") from None
            n *= 4
    entries = wanted(found, names, file)
    for e in entries:
        if e.name in unknown:
            raise WeightFileError(
                f"{file.name}: tensor {e.name!r} has the unknown GGML type {unknown[e.name]}"
            )
    return await load(file, entries, metadata, progress)


class _More(Exception):
    """The header is longer than what is there of it."""


class _Cursor:
    """Walks through the bytes of a header."""

    def __init__(self, data: bytes, file: Source) -> None:
        self.data, self.file, self.at = data, file, 0

    def take(self, n: int, what: str) -> int:
        """Where the next n bytes begin."""
        at = self.at
        size = self.file.size
        if n <= 8 and size is not None and at + n > size:
            raise self.file.ends(size, at + n, f"its header ({what})")
        if n > 1 << 31 or (size is not None and at + n > size):
            raise WeightFileError(
                f"{self.file.name}: {what} at byte {at:,} has {n:,} bytes, more than are left"
            )
        if at + n > len(self.data):
            raise _More
        self.at = at + n
        return at

    def number(self, code: str, what: str) -> Any:
        return unpack_from("<" + code, self.data, self.take(calcsize("<" + code), what))[0]

    def text(self, what: str) -> str:
        n = self.number("Q", what)
        at = self.take(n, what)
        try:
            return self.data[at : at + n].decode()
        except UnicodeDecodeError:
            raise WeightFileError(f"{self.file.name}: {what} at byte {at:,} is no text") from None

    def value(self, kind: int, what: str, depth: int = 0) -> Any:
        if kind in _SCALARS:
            return self.number(_SCALARS[kind], what)
        if kind == _STRING:
            return self.text(what)
        if kind != _ARRAY or depth > DEEPEST:
            raise WeightFileError(f"{self.file.name}: {what} at byte {self.at:,} has the unknown type {kind}")
        inner, n = self.number("I", what), self.number("Q", what)
        if inner in _SCALARS:
            code = _SCALARS[inner]
            at = self.take(n * calcsize("<" + code), what)
            return list(unpack_from(f"<{n}{code}", self.data, at))
        return [self.value(inner, what, depth + 1) for _ in range(n)]


def parse(data: bytes, file: Source) -> tuple[dict[str, Any], list[Entry], dict[str, int]]:
    """(metadata, tensors, GGML types of those of an unknown kind) of a header."""
    at = _Cursor(data, file)
    if data[:4] != b"GGUF":
        raise WeightFileError(f"{file.name} is no GGUF file: it begins with {data[:4]!r}, not b'GGUF'")
    at.at = 4
    version = at.number("I", "the version")
    if version not in (2, 3):
        why = (
            "is written for big-endian machines"
            if version and not version & 0xFFFF
            else "is not known (2 and 3 are)"
        )
        raise WeightFileError(f"{file.name}: GGUF version {version} {why}")
    tensors, keys = at.number("Q", "the number of tensors"), at.number("Q", "the number of keys")
    metadata: dict[str, Any] = {}
    for k in range(keys):
        name = at.text(f"key {k}")
        metadata[name] = at.value(at.number("I", f"key {name!r}"), f"key {name!r}")
    listed: list[tuple[str, tuple[int, ...], int, int]] = []
    for k in range(tensors):
        name = at.text(f"the name of tensor {k}")
        what = f"tensor {name!r}"
        dims = at.number("I", what)
        if dims > 8:
            raise WeightFileError(f"{file.name}: {what} is said to have {dims} axes")
        shape = tuple(reversed([at.number("Q", what) for _ in range(dims)]))
        listed.append((name, shape, at.number("I", what), at.number("Q", what)))
    align = metadata.get("general.alignment", 32)
    if not isinstance(align, int) or align < 1 or align & (align - 1):
        raise WeightFileError(f"{file.name}: general.alignment is {align!r}, not a power of two")
    begin = -(-at.at // align) * align
    entries, unknown = [], {}
    for name, shape, kind, offset in listed:
        found = _KINDS.get(kind)
        if found is None:
            unknown[name] = kind
            found = int8
        block, each = _sizes(found)
        size = prod(shape)
        if (shape[-1] if shape else 1) % block or max(size, *shape, 0) >= 1 << 40:
            raise WeightFileError(
                f"{file.name}: tensor {name!r} of shape {shape} is not made of blocks of {block}"
            )
        if offset % align and offset % 4:
            raise WeightFileError(f"{file.name}: tensor {name!r} begins at {offset:,}, which is not aligned")
        entries.append(Entry(name, found, shape, begin + offset, size // block * each))
    if len({e.name for e in entries}) < len(entries):
        raise WeightFileError(f"{file.name}: two tensors have the same name")
    return metadata, entries, unknown


def _sizes(kind: Format | DType | str) -> tuple[int, int]:
    if isinstance(kind, Format):
        return kind.block, kind.nbytes
    return 1, 8 if isinstance(kind, str) else kind.itemsize
