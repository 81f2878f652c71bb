"""Kernels and their pipelines: compiled when needed or ahead; dropped when there are very many. Mixed into Device."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from time import perf_counter
from typing import Any
from weakref import WeakSet

from . import bridge
from .errors import KernelError, TabgpuError
from .launch import Kernel, Launch

MAX_PIPELINES = 4096  # kept; above that, those not used for longest are dropped


class Pipelines:
    """What a Device knows of kernels."""

    js: Any
    counters: Any
    seconds: dict[str, float]
    serial: int

    def __init__(self) -> None:
        self.epoch = 0  # counts how often pipelines were dropped
        self.on_compiled: Any = None  # told when there are new pipelines
        self.users: WeakSet[Any] = WeakSet()  # programs: their `kernels` are in use until `used`
        self._pipelines: dict[Kernel, int] = {}
        self._pipeline_ids = count(1)
        self._compiling: dict[Kernel, Any] = {}
        self._warm: dict[tuple[str, str], int] = {}  # by text: pipelines that nobody asked for yet

    def check(self) -> None:
        """DeviceLostError if this device is gone."""
        raise NotImplementedError

    async def guard(self, promise: Any) -> Any:
        """Awaits a promise of the bridge."""
        raise NotImplementedError

    def missing(self, launches: Iterable[Launch]) -> list[Kernel]:
        """The kernels of a plan that have no pipeline yet, each once."""
        return self.uncompiled([x.kernel for x in launches])

    def uncompiled(self, kernels: Iterable[Kernel]) -> list[Kernel]:
        """Those that have no pipeline yet, each once."""
        return list(
            {k: None for k in kernels if k.access and not self._pipelines.get(k) and not self._taken(k)}
        )

    def _taken(self, kernel: Kernel) -> int:
        """The pipeline that was made ahead for a kernel's text, or 0."""
        ident = self._warm.pop((kernel.code, kernel.access), 0)
        if ident:
            self._pipelines[kernel], kernel.used = ident, self.serial
        return ident

    def kernels(self) -> list[Kernel]:
        """Those that have a pipeline."""
        return list(self._pipelines)

    async def warm(self, kernels: list[Kernel]) -> int:
        """Compiles kernels that were needed elsewhere; how many were made. What does not compile is left out."""
        tasks = [bridge.start(self._compile(kernel)) for kernel in kernels]
        self._compiling.update(zip(kernels, tasks, strict=True))
        for task in tasks:
            await bridge.join(task)
        self.check()
        made = 0
        for kernel in kernels:
            ident = self._pipelines.pop(kernel, 0)
            if ident:
                self._warm[kernel.code, kernel.access] = ident
                made += 1
        return made

    async def compile(self, kernels: list[Kernel]) -> None:
        """Makes pipelines concurrently; KernelError names the first that is wrong. Calls share what is under way."""
        for kernel in kernels:
            if kernel not in self._compiling:
                self._compiling[kernel] = bridge.start(self._compile(kernel))
        under_way = [self._compiling[k] for k in kernels]
        answers = [await bridge.join(task) for task in under_way]
        self.check()
        wrong = [message for message in answers if message]
        if wrong:
            raise KernelError(wrong[0])

    async def _compile(self, kernel: Kernel) -> str:
        """What is wrong with a kernel, or ""; a lost device is the caller's to notice."""
        ident = next(self._pipeline_ids)
        self.counters.pipelines += 1
        self.counters.crossings += 1
        begin = perf_counter()
        try:
            promise = self.js.pipelineAsync(ident, kernel.label, kernel.code, kernel.access)
            message = str(await self.guard(promise))
            self.seconds["compile"] += perf_counter() - begin
            if not message:
                self._pipelines[kernel], kernel.used = ident, self.serial
                if self.on_compiled is not None:
                    self.on_compiled()
            return message
        except TabgpuError as error:
            return str(error)
        finally:
            del self._compiling[kernel]

    def pipeline(self, kernel: Kernel) -> int:
        """The number of a kernel's pipeline, which is made here and now if there is none."""
        ident = self._pipelines.get(kernel) or self._taken(kernel)
        if not ident:
            ident = self._pipelines[kernel] = next(self._pipeline_ids)
            kernel.used = self.serial
            self.counters.pipelines += 1
            self.counters.crossings += 1
            self.js.pipeline(ident, kernel.label, kernel.code, kernel.access)
            if self.on_compiled is not None:
                self.on_compiled()
        return ident

    def _bound(self) -> None:
        """Forgets a quarter of the pipelines if there are too many, those not used for longest; programs look theirs
        up anew."""
        if len(self._pipelines) <= MAX_PIPELINES:
            return
        for program in self.users:
            for kernel in program.kernels:
                kernel.used = max(kernel.used, program.used)
        old = sorted(self._pipelines, key=lambda kernel: kernel.used)[: MAX_PIPELINES // 4]
        for kernel in old:
            self.js.drop(self._pipelines.pop(kernel))
        self.epoch += 1
