"""An epoch against the same epoch by the loops of others, in the same run and in CPU time.

Tables: fine-tuning a masked `mlp_tab` (AdamW, batch 128), beside loops written as those of
ShrinkBench (DataLoader; every layer multiplies weight and mask in its forward; loss and accuracies
read at every step) and of open_lth (DataLoader; every parameter is multiplied by its mask before
the forward; a scheduler's step per batch).

Images: ILO's epoch beside a DataLoader with torchvision's transforms per image (`ilo_epoch.py`),
and beside a loader like airbench's: all images are normalised once, and flipped and shifted
together at the start of the epoch. The latter makes easier transforms, no crops with resizing and
no colours: what it saves is the most that a faster loader could save.

    python benchmarks/epoch_against.py [--rows 2560] [--images FILE.npz] [--repetitions 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cocktail_epoch import FINETUNE, mlp_tab_training, random_table  # noqa: E402
from ilo_epoch import BATCH, crops_of_photographs, make_network, our_epoch, plain_epoch  # noqa: E402

from iunet.method.objectives import Batch, invariance  # noqa: E402
from iunet.networks.network import Network, NetworkSpec, encoder_weights  # noqa: E402
from iunet.training.loop import train  # noqa: E402
from iunet.training.support.environment import set_up_torch  # noqa: E402

RATIO = 8  # of the masks
SHIFT = 4  # pixels, of the loader like airbench's


def in_turns(ways: dict[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    """The median CPU seconds of each way; they take turns, and the first turn warms up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repetitions + 1):
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(of_way[1:]) for name, of_way in times.items()}


def show(title: str, seconds: dict[str, float]) -> None:
    print(title)
    ours = next(iter(seconds.values()))
    for name, of_way in seconds.items():
        print(f"  {name:32}{of_way:8.3f} s {of_way / ours:7.2f} times ours", flush=True)


# ---- tables


def random_masks(network: Network) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {
        name: (torch.rand(weight.shape, generator=generator) < 1 / RATIO).float()
        for name, weight in encoder_weights(network).items()
    }


def plain_adamw(network: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        network.parameters(), lr=FINETUNE.lr, weight_decay=FINETUNE.weight_decay
    )


def table_loader(raw: Tensor, labels: Tensor) -> DataLoader:
    return DataLoader(TensorDataset(raw, labels), FINETUNE.batch_size, shuffle=True)


class MaskedLinear(nn.Module):
    """As ShrinkBench has it: the product of weight and mask, and its gradient, in every forward."""

    def __init__(self, linear: nn.Linear, mask: Tensor):
        super().__init__()
        self.weight, self.bias, self.mask = linear.weight, linear.bias, mask

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight * self.mask, self.bias)


def like_shrinkbench(network: Network, raw: Tensor, labels: Tensor) -> Callable[[], None]:
    for name, mask in random_masks(network).items():
        place = int(name.split(".")[1])
        network.encoder[place] = MaskedLinear(network.encoder[place], mask)
    optimiser, loss_function = plain_adamw(network), nn.CrossEntropyLoss()
    loader = table_loader(raw, labels)

    def epoch() -> None:
        network.train()
        losses, top1, top5 = [], [], []
        for x, y in loader:
            logits = network(x)
            loss = loss_function(logits, y)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            right = logits.topk(5, dim=1).indices == y[:, None]
            losses.append(loss.item())
            top1.append(right[:, :1].float().sum().item())
            top5.append(right.float().sum().item())

    return epoch


def like_open_lth(network: Network, raw: Tensor, labels: Tensor) -> Callable[[], None]:
    masks = random_masks(network)
    optimiser, loss_function = plain_adamw(network), nn.CrossEntropyLoss()
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1.0)
    loader = table_loader(raw, labels)

    def epoch() -> None:
        for x, y in loader:
            optimiser.zero_grad()
            network.train()
            for name, parameter in network.named_parameters():
                if name in masks:
                    parameter.data *= masks[name]
            loss = loss_function(network(x), y)
            loss.backward()
            optimiser.step()
            schedule.step()

    return epoch


def compare_on_tables(rows: int, columns: int, repetitions: int) -> None:
    part, prepare = random_table(rows, columns)
    training = mlp_tab_training(part, prepare)
    training.quiet, training.masks = True, random_masks(training.network)
    others = [mlp_tab_training(part, prepare).network for _ in range(2)]
    ways = {
        "ours": lambda: train(training),
        "as ShrinkBench trains": like_shrinkbench(others[0], part.raw, part.labels),
        "as open_lth trains": like_open_lth(others[1], part.raw, part.labels),
    }
    title = f"masked mlp_tab, {rows} rows, {columns} columns, an epoch"
    show(title, in_turns(ways, repetitions))


# ---- images


def airbench_batches(normalised: Tensor, labels: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Images, their flipped and shifted views, labels; all views come before the first batch."""
    count, side = len(normalised), normalised.shape[-1]
    padded = F.pad(normalised, (SHIFT,) * 4, "reflect")
    top, left = torch.randint(2 * SHIFT + 1, (2, count))
    views = torch.empty_like(normalised)
    rows_of = torch.empty(count, 3, side, padded.shape[-1])
    for shift in range(2 * SHIFT + 1):
        rows_of[top == shift] = padded[top == shift, :, shift : shift + side]
    for shift in range(2 * SHIFT + 1):
        views[left == shift] = rows_of[left == shift, :, :, shift : shift + side]
    flipped = torch.rand(count) < 0.5
    views = torch.where(flipped[:, None, None, None], views.flip(-1), views)
    for rows in torch.randperm(count).split(BATCH):
        yield normalised[rows], views[rows], labels[rows]


def airbench_epoch(images: Tensor, labels: Tensor, spec: NetworkSpec) -> None:
    network, optimiser = make_network(spec)
    normalised = (images.float() / 255 - 0.5) / 0.25
    for x, x_g, y in airbench_batches(normalised, labels):
        loss, _ = invariance(network, Batch(x, y, lambda x_g=x_g: x_g))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def compare_on_images(images: Tensor, labels: Tensor, alpha: int, repetitions: int) -> None:
    for network in ("mlp_vis", "cnn"):
        spec = NetworkSpec(network, int(labels.max()) + 1, side=32, options={"alpha": alpha})
        ways = {
            "ours": lambda spec=spec: our_epoch(images, labels, spec),
            "DataLoader, transforms per image": lambda spec=spec: plain_epoch(
                images, labels, spec, 0
            ),
            "batched as airbench, easier": lambda spec=spec: airbench_epoch(images, labels, spec),
        }
        title = f"ILO, {network} α = {alpha}, {len(images)} images, an epoch"
        show(title, in_turns(ways, repetitions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2560)
    parser.add_argument("--columns", type=int, default=216)
    parser.add_argument("--images", help="an image set of a mirror; crops of photographs without")
    parser.add_argument("--count", type=int, default=1280, help="images of an epoch")
    parser.add_argument("--alpha", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of torch, for all ways")
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    set_up_torch("cpu", arguments.threads, arguments.threads)
    torch.manual_seed(0)
    compare_on_tables(arguments.rows, arguments.columns, arguments.repetitions)
    if arguments.images:
        with np.load(arguments.images) as archive:
            images, labels = (archive[key][: arguments.count] for key in ("x_train", "y_train"))
    else:
        images, labels = crops_of_photographs(arguments.count, 32), np.arange(arguments.count) % 10
    images = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
    labels = torch.from_numpy(labels.astype(np.int64))
    compare_on_images(images, labels, arguments.alpha, arguments.repetitions)


if __name__ == "__main__":
    main()
