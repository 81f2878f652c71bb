"""`./build.sh demo`: what the digits example says and leaves, against a plain NumPy search of our own on the host."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def nearest_neighbours(known: np.ndarray, digits: np.ndarray, unknown: np.ndarray, k: int) -> np.ndarray:
    """The same rule by another way: all differences in int64, a stable sort, and counted votes."""
    distance = ((unknown[:, None, :] - known[None, :, :]) ** 2).sum(axis=2)
    near = digits[np.argsort(distance, axis=1, kind="stable")[:, :k]]
    return np.array([np.bincount(row, minlength=10).argmax() for row in near])


def test_the_demo_agrees_with_numpy_and_draws_its_picture(command, tmp_path) -> None:
    shutil.copytree(ROOT / "web" / "examples", tmp_path / "examples")
    done = command("run", "--file", "examples/data", "examples/digits/digits.py")
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads((tmp_path / "out/digits.json").read_text())

    text = gzip.decompress((ROOT / "web/examples/data/digits.csv.gz").read_bytes()).decode()
    table = np.array([line.split(",") for line in text.split()], np.int64)
    assert table.shape == (1797, 65)
    known, unknown = table[: said["known"]], table[said["known"] :]
    expected = nearest_neighbours(known[:, :64], known[:, 64], unknown[:, :64], said["k"])
    assert said["predictions"] == expected.tolist()
    right = int((expected == unknown[:, 64]).sum())
    assert (said["right"], said["right_numpy"], said["equal"]) == (right, right, 599)
    assert said["total"] == len(unknown) == 599
    assert right > 0.95 * len(unknown)

    # Products, sums, five searches (two launches each on a CPU adapter), five marks and the vote: fused, in one submit
    # and one read.
    assert said["launches"] <= 21
    assert said["bytes_uploaded"] == 4 * (1797 * 64 + 1198 * 10)
    assert said["bytes_read"] == 4 * 599
    for fact in (said["adapter"], f"{right} of 599 right", "599 of 599 predictions are equal", "launches"):
        assert fact in done.stdout

    picture = (tmp_path / "out/digits.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 1000 and height > 500
