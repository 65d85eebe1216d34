"""The time of an epoch of MLP+C against one of `mlp_tab`'s fine-tuning, in the same run.

Without regularisers both have 10 linear layers, 8 of them 512 × 512, and train on the same rows in
batches of 128 with AdamW; neither validates. Epochs alternate, so that the machine's moods meet
both, and medians are compared. Regularisers can be switched on, to see what they cost.

    python benchmarks/cocktail_epoch.py [--rows 2560] [--columns 200] [--epochs 15] [--threads 1]
    python benchmarks/cocktail_epoch.py --cocktail batch_norm=true dropout=0.5 augmentation=mixup
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from iunet.baselines.cocktail.settings import Cocktail  # noqa: E402
from iunet.baselines.cocktail.train import initial_network, make_training  # noqa: E402
from iunet.data.load import Part, TabularInputs  # noqa: E402
from iunet.data.preprocess import Numeric, Preprocessing  # noqa: E402
from iunet.method.objectives import supervised_loss  # noqa: E402
from iunet.networks.network import NetworkSpec, build_network  # noqa: E402
from iunet.training.finetune import FinetuneSettings, make_optimiser  # noqa: E402
from iunet.training.loop import (  # noqa: E402
    Training,
    stream,
    train,
)
from iunet.training.schedule import schedule_of  # noqa: E402
from iunet.training.support.environment import set_up_torch  # noqa: E402

N_CLASSES = 10
FINETUNE = FinetuneSettings(
    "adamw", 1e-3, 128, 0, weight_decay=1e-2, first_cycle_epochs=15, cycle_factor=2, cycles=3
)


def random_table(rows: int, columns: int) -> tuple[Part, TabularInputs]:
    generator = torch.Generator().manual_seed(0)
    raw = torch.randn(rows, columns, generator=generator)
    part = Part(raw, torch.randint(N_CLASSES, (rows,), generator=generator))
    fitted = Preprocessing([Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(columns)], [], [])
    return part, TabularInputs(fitted.to_json(), part.raw.device)


def mlp_tab_training(part: Part, prepare: TabularInputs) -> Training:
    """As the fine-tune stage sets it up, without a mask and without validation."""
    torch.manual_seed(0)
    network = build_network(
        NetworkSpec(
            "mlp_tab", N_CLASSES, n_inputs=part.raw.shape[1], options={"width": 512, "depth": 9}
        )
    )

    def loss(rows):
        value = supervised_loss(network(prepare.prepare(part.raw[rows])), part.labels[rows])
        return value, {"sup": value.detach()}

    return Training(
        "mlp_tab",
        network,
        make_optimiser(network, FINETUNE),
        1,
        FINETUNE.batch_size,
        len(part),
        loss,
        validate=None,
        generators={"order": stream(0, "order", part.raw.device)},
        lr_at=schedule_of(vars(FINETUNE)).lr_at,
    )


def cocktail_training(cocktail: Cocktail, part: Part, prepare: TabularInputs) -> Training:
    noise = stream(0, "noise", part.raw.device)
    network = initial_network(cocktail, part.raw.shape[1], N_CLASSES, 0, noise)
    return make_training(cocktail, network, part, prepare, N_CLASSES, 0, "mlp_c")


def read_cocktail(words: list[str]) -> Cocktail:
    def value(text: str):
        return json.loads(text) if text[0].isdigit() or text in ("true", "false") else text

    pairs = (word.split("=", 1) for word in words)
    return Cocktail(**{name: value(text) for name, text in pairs})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2560)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cocktail", nargs="*", default=[], metavar="FIELD=VALUE")
    arguments = parser.parse_args()
    set_up_torch("cpu", arguments.threads, arguments.threads)
    part, prepare = random_table(arguments.rows, arguments.columns)
    cocktail = read_cocktail(arguments.cocktail)
    assert schedule_of(vars(cocktail)).lr_at(3) == schedule_of(vars(FINETUNE)).lr_at(3)
    trainings = [mlp_tab_training(part, prepare), cocktail_training(cocktail, part, prepare)]
    times: list[list[float]] = [[], []]
    for epoch in range(-2, arguments.epochs):
        for training, seconds in zip(trainings, times, strict=True):
            training.epochs, training.quiet, training.keep = 1, True, None
            trained = train(training)
            if epoch >= 0:  # the first two warm the machine up
                seconds.append(trained.seconds)
    mlp_tab, mlp_c = (statistics.median(seconds) for seconds in times)
    ratio = statistics.median(a / b for a, b in zip(*times, strict=True))
    print(
        f"{arguments.rows} rows × {arguments.columns} columns, {arguments.epochs} epochs each, "
        f"{arguments.threads} thread(s), medians: mlp_tab {mlp_tab:.3f} s, mlp_c {mlp_c:.3f} s "
        f"per epoch; mlp_c is {ratio:.2f} times as fast"
    )


if __name__ == "__main__":
    main()
