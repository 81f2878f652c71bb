"""Which frequencies a sound has, and when. Arrays in, arrays out; nothing here reads or waits."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np

import tabgpu as tg

WINDOW, HOP = 2048, 512  # samples: a window is 46 ms of a sound with 44,100 of them a second
FLOOR = -80.0  # decibels below the loudest: what is less counts as silence


def load(raw: bytes) -> tuple[int, np.ndarray]:
    """A WAV file of one channel and 16 bits as (samples a second, float32 between -1 and 1)."""
    with wave.open(io.BytesIO(raw)) as file:
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            raise ValueError("this example reads one channel of 16 bits")
        rate, data = file.getframerate(), file.readframes(file.getnframes())
    return rate, np.frombuffer(data, "<i2").astype(np.float32) / 32768


def decibels(sound: Any, rate: float) -> tuple[Any, Any, Any]:
    """(frequencies in Hz, times in s, the level of each frequency (rows) at each time, 0 at the loudest)."""
    frequencies, times, power = tg.signal.spectrogram(sound, rate, "hann", WINDOW, WINDOW - HOP)
    level = 10 * tg.log10(tg.maximum(power / power.max(), 10 ** (FLOOR / 10)))
    return frequencies, times, level


def loudest(frequencies: Any, level: Any) -> Any:
    """The loudest frequency at each time."""
    return frequencies[level.argmax(axis=0)]


def envelope(sound: Any, columns: int) -> tuple[Any, Any]:
    """The least and the greatest sample in each of some equal pieces; samples that are left over at the end are out."""
    pieces = sound[: sound.shape[0] // columns * columns].reshape((columns, -1))
    return pieces.min(axis=1), pieces.max(axis=1)
