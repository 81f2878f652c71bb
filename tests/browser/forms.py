"""Forms of kernels that an adapter chooses between: a device under test made to take each that it can run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tabgpu import engine

FORMS = ["own", "serial", "portable", "subgroups"]


@contextmanager
def taking(form: str) -> Iterator[None]:
    """The open device's facts changed: own (as they are), serial (of a CPU adapter), portable (of a GPU without
    subgroups) or subgroups; skips what is the device's own or what it cannot run."""
    gpu = engine.device()
    facts, programs = engine.facts_of(gpu), gpu.programs
    subgroups = bool(facts.subgroups[0])
    own = "serial" if facts.software else "subgroups" if subgroups else "portable"
    if form == own or (form == "subgroups" and not subgroups):
        pytest.skip(f"{form}: {'the first time was that' if form == own else 'the device has none'}")
    if form == "serial":
        gpu.facts = replace(facts, software=True)
    elif form != "own":
        without = {} if form == "subgroups" else {"features": frozenset[str](), "subgroups": (0, 0)}
        gpu.facts = replace(facts, software=False, **without)  # type: ignore[arg-type]
    gpu.programs = None  # planned with other facts
    try:
        yield
    finally:
        gpu.facts, gpu.programs = facts, programs


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each form in turn."""
    with taking(request.param):
        yield request.param
