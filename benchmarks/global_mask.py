"""Time and memory of the global mask of mlp_vis at α = 8: 92 million weights.

python benchmarks/global_mask.py
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from iunet.method.pruning import magnitude_masks  # noqa: E402

WIDTHS = [3072, 8192, 4096, 4096, 2048, 2048, 1024, 1024, 512, 512]


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    rng = np.random.default_rng(0)
    shapes = zip(WIDTHS[1:], WIDTHS[:-1], strict=True)
    weights = {str(i): rng.standard_normal(s, dtype=np.float32) for i, s in enumerate(shapes)}
    n = sum(weight.size for weight in weights.values())
    size = 4 * n / 2**20
    held = peak_mib()
    for ratio in (2, 4, 8, 16):
        start = time.perf_counter()
        masks = magnitude_masks(weights, list(weights), ratio)
        seconds = time.perf_counter() - start
        kept = sum(int(mask.sum()) for mask in masks.values())
        del masks
        print(f"ratio {ratio}: {seconds:.2f} s, {kept} of {n} weights kept")
    extra = peak_mib() - held
    print(f"peak above the weights: {extra:.0f} MiB, {extra / size:.2f} times their {size:.0f} MiB")


if __name__ == "__main__":
    main()
