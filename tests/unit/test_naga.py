"""Every kernel in every declared variant compiles under naga, the WGSL compiler of Firefox, Deno and wgpu."""

from __future__ import annotations

from typing import Any

import corpus
import native
import pytest

from tabgpu import kernels
from tabgpu.bridge_native import for_naga


def refusal(label: str, code: str) -> str:
    """Why naga refuses a text; empty if it takes it."""
    try:
        native.device().create_shader_module(label=label, code=for_naga(code))
    except Exception as error:  # wgpu's own class for validation errors
        return f"{label}: {error}"
    return ""


def test_naga_is_awake() -> None:
    assert "bad" in refusal("bad", "fn f() -> u32 { return 1i; }")
    assert refusal("good", "fn f() -> u32 { return 1u; }") == ""


def test_every_kernel_compiles(gpu: Any) -> None:
    native.device()
    wrong = [why for name, code, _, _ in corpus.everything() if (why := refusal(name, code))]
    assert not wrong, f"{len(wrong)} kernels are refused; the first: {wrong[0]}"


@pytest.mark.parametrize("name", corpus.handwritten())
def test_files_compile_as_they_are(name: str) -> None:
    assert refusal(name, corpus.as_it_stands(name)) == ""


@pytest.mark.parametrize("name", corpus.library())
def test_library_files_compile(name: str) -> None:
    assert refusal(name, kernels.library([name])) == ""
