"""An epoch of ILO on images against the plain way, in the same run.

The plain way: torch's DataLoader, torchvision's transforms per image, two forwards. Same network,
same images and threads; the DataLoader in the main process, and with two workers.

    python benchmarks/ilo_epoch.py [--images FILE.npz] [--alpha 1] [--threads 1]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from iunet.data.load import Part, VisionInputs  # noqa: E402
from iunet.machine.torchvision_cpu import import_torchvision  # noqa: E402
from iunet.method.objectives import Batch, invariance, nce_loss, supervised_loss  # noqa: E402
from iunet.networks.network import NetworkSpec, build_network  # noqa: E402
from iunet.training.loop import batches  # noqa: E402
from iunet.training.support.environment import set_up_torch  # noqa: E402

import_torchvision()
from torchvision.transforms import v2  # noqa: E402

BATCH = 128
AUGMENT = {
    "resize": {"scale": [0.08, 1.0], "ratio": [3 / 4, 4 / 3]},
    "horiz": {"p": 0.5},
    "color": {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
    "graysc": {"p": 0.2},
}


def crops_of_photographs(count: int, side: int) -> np.ndarray:
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    photographs = load_sample_images().images
    crops = np.empty((count, side, side, 3), dtype=np.uint8)
    for i in range(count):
        photograph = photographs[i % len(photographs)]
        top, left = (rng.integers(size - side + 1) for size in photograph.shape[:2])
        crops[i] = photograph[top : top + side, left : left + side]
    return crops


def make_network(spec: NetworkSpec):
    torch.manual_seed(0)
    network = build_network(spec).train()
    sgd = torch.optim.SGD(network.parameters(), 1e-3, momentum=0.9, nesterov=True, fused=True)
    return network, sgd


def our_epoch(images: torch.Tensor, labels: torch.Tensor, spec: NetworkSpec) -> float:
    network, optimiser = make_network(spec)
    part = Part(images, labels)
    inputs = VisionInputs({"mean": [0.5] * 3, "std": [0.25] * 3}, part.raw.device, AUGMENT, part)
    generator = torch.Generator().manual_seed(0)
    start = time.perf_counter()
    for rows in batches(len(part), BATCH, generator):
        raw = part.raw[rows]
        batch = Batch(
            inputs.prepare(raw),
            part.labels[rows],
            lambda raw=raw: inputs.transformed(raw, generator),
        )
        loss, _ = invariance(network, batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return time.perf_counter() - start


class PlainDataset(torch.utils.data.Dataset):
    def __init__(self, images: torch.Tensor, labels: torch.Tensor):
        normalise = v2.Normalize([0.5] * 3, [0.25] * 3)
        to_float = v2.ToDtype(torch.float32, scale=True)
        jitter = v2.RandomApply([v2.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8)
        crop = v2.RandomResizedCrop(images.shape[-1], antialias=True)
        view = [crop, v2.RandomHorizontalFlip(), jitter, v2.RandomGrayscale(0.2), normalise]
        self.plain = v2.Compose([to_float, normalise])
        self.view = v2.Compose([to_float, *view])
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int):
        return self.plain(self.images[i]), self.view(self.images[i]), self.labels[i]


def plain_epoch(images, labels, spec: NetworkSpec, workers: int) -> float:
    network, optimiser = make_network(spec)
    data = PlainDataset(images, labels)
    loader = torch.utils.data.DataLoader(data, BATCH, shuffle=True, num_workers=workers)
    start = time.perf_counter()
    for x, x_g, y in loader:
        h, h_g = network.encoder(x), network.encoder(x_g)
        loss = supervised_loss(network.decoder(h), y) + nce_loss(h, h_g, y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", help="an image set of a mirror; crops of photographs without")
    parser.add_argument("--alpha", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of torch, for both ways")
    arguments = parser.parse_args()
    set_up_torch("cpu", arguments.threads, arguments.threads)
    print(f"{arguments.threads} thread(s), one epoch of ILO")
    if arguments.images:
        with np.load(arguments.images) as archive:
            images, labels = archive["x_train"][:2560], archive["y_train"][:2560]
    else:
        images = crops_of_photographs(2560, 32)
        labels = np.arange(2560) % 10
    images = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
    labels = torch.from_numpy(labels.astype(np.int64))
    for network in ("mlp_vis", "cnn"):
        spec = NetworkSpec(
            network, int(labels.max()) + 1, side=32, options={"alpha": arguments.alpha}
        )
        ours = min(our_epoch(images, labels, spec) for _ in range(3))
        for workers in (0, 2):
            plain = plain_epoch(images, labels, spec, workers)
            print(
                f"{network} α={arguments.alpha}, {len(images)} images: ours {ours:.2f} s, plain "
                f"with {workers} workers {plain:.2f} s: {plain / ours:.1f} times faster",
                flush=True,
            )


if __name__ == "__main__":
    main()
