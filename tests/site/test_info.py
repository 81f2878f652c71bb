"""`tabgpu info`: what it says of the adapter."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    "options", [[], ["--worker"], ["--launcher", "plain"]], ids=["page", "worker", "plain"]
)
def test_info(command, options) -> None:
    done = command("info", "--json", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["name"] and found["jspi"] is True and found["secure"] is True
    assert found["limits"]["maxStorageBuffersPerShaderStage"] >= 8
    assert isinstance(found["features"], list)
    assert found["scope"] == ("DedicatedWorkerGlobalScope" if "--worker" in options else "Window")


def test_info_as_text_names_the_limits(command) -> None:
    text = command("info").stdout
    assert "maxBufferSize" in text and "jspi" in text
