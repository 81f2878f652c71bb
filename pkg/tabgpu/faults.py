"""Which results a fault spoils: failed submits, what read from them, memory that is not there. Mixed into Device."""

from __future__ import annotations

import json
import re
from typing import Any

from .config import Config
from .errors import GPUInternalError, KernelError, OutOfMemoryError, TabgpuError
from .graph import Buffer


class Faults:
    """What a Device knows of faults, and how it hears of them."""

    js: Any
    config: Config
    live_bytes: int
    pooled_bytes: int
    buffer_limit: int
    _spoiled: set[int]
    _pool: dict[int, list[int]]
    _to_free: list[int]

    def __init__(self) -> None:
        self._fresh: dict[
            int, dict[int, int]
        ] = {}  # submit serial -> ids made by it and sizes, until confirmed
        self.confirmed = 0
        self.failed: dict[int, TabgpuError] = {}
        self._sources: set[int] = set()  # submits that the stream's launches read from
        self._reads_from: dict[int, set[int]] = {}  # the same of each submit, until confirmed
        self._unseen: list[TabgpuError] = []  # errors that nobody has been told of
        self._read_failed: dict[int, TabgpuError] = {}
        self._no_memory: dict[int, TabgpuError] = {}  # ids that could not be allocated
        self._heard = 0  # number of the last fault noted

    def depends_on(self, serial: int) -> None:
        """Some launch in the stream reads what this submit wrote."""
        self._sources.add(serial)

    def raise_for(self, buffer: Buffer) -> None:
        """The error of a submit that this content depends on, if one failed."""
        failure = self.failed.get(buffer.serial)
        if failure is not None:
            self._unseen = [e for e in self._unseen if e is not failure]
            raise again(failure)

    def _absorb(self, report: str, serial: int) -> int:
        """Notes what the bridge says of all submits up to `serial`: failed, or confirmed. Returns the read's number."""
        number = 0
        if report:
            said = json.loads(report)
            number = said["read"]
            faults = [f for f in said["faults"] if f["number"] > self._heard]
            # Memory that is not there is why others failed too.
            for fault in sorted(faults, key=lambda f: f["kind"] != "out-of-memory"):
                self._note(fault, said["broken"])
            self._heard = max([self._heard, *(f["number"] for f in faults)])
            self.js.heard(self._heard)
        if self.failed:  # what read from a failed submit has failed too
            for later in sorted(self._reads_from):
                source = next((s for s in self._reads_from[later] if s in self.failed), None)
                if source is not None:
                    self.failed.setdefault(later, self.failed[source])
        for held in (self._fresh, self._reads_from):
            for done in [s for s in held if s <= serial]:
                del held[done]
        self.confirmed = max(self.confirmed, serial)
        return number

    def _note(self, fault: dict[str, Any], broken: list[tuple[str, str]]) -> None:
        """Keeps one fault for those whom it concerns: a submit's results, a read, or whoever waits next."""
        serial = fault["serial"]
        error = self._error(fault, broken)
        if serial < 0:
            self._read_failed.setdefault(serial, error)
        elif serial == 0:
            self._unseen.append(error)
        elif serial not in self.failed:
            self._fail(serial, error)

    def _fail(self, serial: int, error: TabgpuError) -> None:
        """A submit failed: its results raise, and the memory it made is not used again."""
        self.failed[serial] = error
        if error not in self._unseen:
            self._unseen.append(error)
        fresh = self._fresh.get(serial, {})
        self._spoiled.update(fresh)
        self._drop_pooled(fresh)
        if isinstance(error, OutOfMemoryError):
            self._no_memory.update(dict.fromkeys(fresh, error))

    def _drop_pooled(self, idents: Any) -> None:
        gone = set(idents)
        for size, ids in self._pool.items():
            bad = [i for i in ids if i in gone]
            if bad:
                self._pool[size] = [i for i in ids if i not in gone]
                self.pooled_bytes -= size * len(bad)
                self._to_free += bad

    def _error(self, fault: dict[str, Any], broken: list[tuple[str, str]]) -> TabgpuError:
        message = fault["message"].strip()
        if fault["kind"] == "out-of-memory":
            limit = self.config.memory_limit
            asked = sum(self._fresh.get(fault["serial"], {}).values())
            return OutOfMemoryError(
                f"the device could not allocate {f'{asked:,} bytes' if asked else 'staging memory'}: {message}; "
                f"{self.live_bytes:,} bytes are live, limit {self.buffer_limit if limit is None else limit:,}"
            )
        if fault["kind"] == "internal":
            return GPUInternalError(message)
        if broken and "nvalid ComputePipeline" in message:
            return KernelError(
                next((text for label, text in broken if f'"{label}"' in message), broken[0][1])
            )
        bound = re.findall(r'nvalid BindGroup "\d+:([\d,]+)"', message)
        mentioned = [b for group in bound for b in group.split(",")[::3]]
        mentioned += re.findall(r'nvalid Buffer "buffer (\d+)"', message)
        for ident in mentioned:
            if int(ident) in self._no_memory:  # it was in use again before the failure was known
                return self._no_memory[int(ident)]
        return KernelError(message)


def again(error: TabgpuError) -> TabgpuError:
    """The same error to raise once more, without the traceback of the time before."""
    return type(error)(*error.args)
