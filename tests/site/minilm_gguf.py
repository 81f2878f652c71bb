"""Writes all-MiniLM-L6-v2 as a GGUF file: `minilm_gguf.py SAFETENSORS FORMAT OUT`, on tabgpu's native host.

The gguf package has no quantiser of K formats. The three matrices before an attention are joined, as in the example.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import gguf
import numpy as np
from bert import weights

import tabgpu as tg

KINDS = gguf.GGMLQuantizationType


async def write(source: Path, fmt: str, out: Path) -> None:
    tensors = weights(source)
    for name in [n for n in tensors if ".query." in n]:
        parts = [tensors.pop(name.replace("query", x)) for x in ("query", "key", "value")]
        tensors[name.replace("query.", "")] = np.concatenate(parts)
    writer = gguf.GGUFWriter(str(out), "bert")
    for name, x in tensors.items():
        if x.ndim == 2 and ("encoder" in name or "word" in name):
            kind = fmt if not fmt.endswith("_K") or x.shape[1] % 256 == 0 else "Q5_0"
            data = np.frombuffer(await tg.quant.quantize(tg.asarray(x), kind).tobytes(), np.uint8)
            writer.add_tensor(name, data.reshape(len(x), -1), raw_dtype=KINDS[kind])
        else:
            writer.add_tensor(name, x)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
