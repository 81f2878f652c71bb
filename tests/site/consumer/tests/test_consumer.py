"""Runs in the tab, against the installed consumer and the tabgpu of the command."""

import os

import consumer
import numpy as np
import pytest


async def test_rms_on_the_gpu():
    x = np.linspace(-3, 5, 1001, dtype=np.float32)
    assert await consumer.rms(x).item() == pytest.approx(
        np.sqrt(np.mean(x.astype(np.float64) ** 2)), rel=1e-6
    )


def test_synchronous_read():
    assert float(consumer.rms(np.array([3.0, 4.0], np.float32))) == pytest.approx(12.5**0.5)


def test_a_dependency_from_pypi():
    assert consumer.label(1234567) == "1,234,567"


@pytest.mark.skipif("TABGPU_CONSUMER_FAILS" not in os.environ, reason="fails on purpose, when asked to")
def test_that_fails():
    assert float(consumer.rms(np.ones(3, np.float32))) == 2
