"""all-MiniLM-L6-v2 on tabgpu: token ids to vectors of 384 numbers and length 1. Knows nothing of texts and pages.

A BERT encoder of 6 layers with 12 heads, the mean of its last states over the tokens that are no padding. Weights may
be float32 arrays or tg.quant.QTensors, by the names of the model's safetensors file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import tabgpu as tg
from tabgpu import nn

HEADS, EPS = 12, 1e-12
PAD = 0
LONGEST = 256  # tokens; the model was trained with no more
BATCH = 32
MATRICES = ("attention.self", "attention.output.dense", "intermediate.dense", "output.dense")


def linear(x: tg.Array, weight: Any, bias: tg.Array | None = None) -> tg.Array:
    """x @ weight.T + bias, whatever the weight is stored as."""
    return (tg.quant if isinstance(weight, tg.quant.QTensor) else nn).linear(x, weight, bias)


class MiniLM:
    """The model over tensors by name. `embed` is asynchronous only where it reads."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self.tensors = dict(tensors)
        self.layers = 1 + max(
            int(name.split(".")[2]) for name in tensors if name.startswith("encoder.layer.")
        )
        self.forward = tg.jit(self._forward)

    def _norm(self, x: tg.Array, name: str) -> tg.Array:
        t = self.tensors
        return nn.layer_norm(x, (x.shape[-1],), t[f"{name}.weight"], t[f"{name}.bias"], EPS)

    def _dense(self, x: tg.Array, name: str) -> tg.Array:
        return linear(x, self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"])

    def _layer(self, x: tg.Array, mask: tg.Array, at: str) -> tg.Array:
        b, t, width = x.shape
        heads = self._dense(x, f"{at}.attention.self").reshape(b, t, 3, HEADS, width // HEADS)
        query, key, value = tg.unstack(tg.permute_dims(heads, (2, 0, 3, 1, 4)))
        y = nn.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        y = tg.permute_dims(y, (0, 2, 1, 3)).reshape(b, t, width)
        x = self._norm(x + self._dense(y, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        y = nn.gelu(self._dense(x, f"{at}.intermediate.dense"))
        return self._norm(x + self._dense(y, f"{at}.output.dense"), f"{at}.output.LayerNorm")

    def _forward(self, ids: tg.Array) -> tg.Array:
        """ids: (b, t) int32, PAD behind each text. (b, 384) float32."""
        used = ids != PAD
        words, at = self.tensors["embeddings.word_embeddings.weight"], "embeddings"
        x = (
            tg.quant.take_rows(words, ids)
            if isinstance(words, tg.quant.QTensor)
            else nn.embedding(ids, words)
        )
        x = x + self.tensors[f"{at}.position_embeddings.weight"][: ids.shape[1]]
        x = self._norm(x + self.tensors[f"{at}.token_type_embeddings.weight"][0], f"{at}.LayerNorm")
        mask = used[:, None, None, :]
        for k in range(self.layers):
            x = self._layer(x, mask, f"encoder.layer.{k}")
        mean = tg.sum(tg.where(used[:, :, None], x, 0), axis=1)  # its length is scaled away in the next line
        return mean / tg.sqrt(tg.sum(mean * mean, axis=-1, keepdims=True))

    def batches(self, tokens: list[list[int]]) -> list[tuple[list[int], np.ndarray]]:
        """Texts of similar lengths together: their places, and ids padded to a power of two of tokens."""
        order = list(range(len(tokens)))
        if len(order) > BATCH:
            order.sort(key=lambda k: len(tokens[k]))
        made = []
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            length = max(8, 1 << (max(len(tokens[k]) for k in places) - 1).bit_length())
            rows = BATCH if len(order) > BATCH else 1 << (len(places) - 1).bit_length()
            ids = np.full((rows, min(length, LONGEST)), PAD, np.int32)
            ids[:, 0] = tokens[0][0]  # rows without a text have a token, too
            for row, k in enumerate(places):
                n = min(len(tokens[k]), LONGEST)
                ids[row, :n] = tokens[k][: n - 1] + tokens[k][-1:]
            made.append((places, ids))
        return made

    def embed(self, tokens: list[list[int]]) -> tg.Array:
        """The vectors of texts, given as ids with [CLS] and [SEP] about them: (n, 384) float32. Reads nothing."""
        if not tokens:
            return tg.zeros((0, self.tensors["embeddings.LayerNorm.weight"].shape[0]))
        places, parts = [], []
        for where, ids in self.batches(tokens):
            places += where
            parts.append(self.forward(tg.asarray(ids))[: len(where)])
        found = parts[0] if len(parts) == 1 else tg.concat(parts)
        return found if places == sorted(places) else found[tg.asarray(np.argsort(places).astype(np.int32))]


def joined(tensors: Mapping[str, tg.Array]) -> dict[str, tg.Array]:
    """The three matrices in front of each attention as one, and their biases: one product instead of three."""
    made = dict(tensors)
    for name in tensors:
        at, _, kind = name.partition(".query.")
        if kind:
            made[f"{at}.{kind}"] = tg.concat(
                [made.pop(f"{at}.{x}.{kind}") for x in ("query", "key", "value")]
            )
    return made


def smaller(tensors: Mapping[str, Any], fmt: str) -> dict[str, Any]:
    """The matrices and the table of words in a quantised format. As llama.cpp mixes: what has rows of no whole number
    of the format's blocks (256 numbers for K formats) takes Q5_0."""
    made = dict(tensors)
    for name, x in tensors.items():
        if name == "embeddings.word_embeddings.weight" or name.endswith(
            tuple(f"{m}.weight" for m in MATRICES)
        ):
            whole = x.shape[-1] % 256 == 0 or not fmt.endswith("_K")
            made[name] = tg.quant.quantize(x, fmt if whole else "Q5_0")
    return made
