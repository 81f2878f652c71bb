"""all-MiniLM-L6-v2 in NumPy and float64, one text at a time: the oracle of test_semantic_search.py, beside
tests/torch/test_minilm.py, which compares it with the transformers package."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.special import erf, softmax

HEADS, EPS = 12, 1e-12


def weights(path: Path) -> dict[str, np.ndarray]:
    """The float32 tensors of a safetensors file, by name."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    made = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            first, end = entry["data_offsets"]
            made[name] = np.frombuffer(data[8 + size + first : 8 + size + end], np.float32).reshape(
                entry["shape"]
            )
    return made


class Bert:
    def __init__(self, path: Path) -> None:
        self.w = {name: x.astype(np.float64) for name, x in weights(path).items()}

    def dense(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        return (
            x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * self.w[f"{name}.weight"]
            + self.w[f"{name}.bias"]
        )

    def attention(self, x: np.ndarray, at: str) -> np.ndarray:
        def heads(name: str) -> np.ndarray:
            y = self.dense(x, f"{at}.self.{name}")
            return y.reshape(len(x), HEADS, -1).swapaxes(0, 1)

        q, k, v = (heads(name) for name in ("query", "key", "value"))
        score = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
        return (softmax(score, axis=-1) @ v).swapaxes(0, 1).reshape(x.shape)

    def embed(self, ids: list[int]) -> np.ndarray:
        """The vector of one text, of length 1."""
        e = "embeddings"
        x = self.w[f"{e}.word_embeddings.weight"][ids] + self.w[f"{e}.position_embeddings.weight"][: len(ids)]
        x = self.norm(x + self.w[f"{e}.token_type_embeddings.weight"][0], f"{e}.LayerNorm")
        for k in range(6):
            at = f"encoder.layer.{k}"
            y = self.attention(x, f"{at}.attention")
            x = self.norm(
                x + self.dense(y, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm"
            )
            y = self.dense(x, f"{at}.intermediate.dense")
            y = y * (1 + erf(y / np.sqrt(2))) / 2
            x = self.norm(x + self.dense(y, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)
