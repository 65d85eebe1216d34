"""The time of a training step against its floor, measured in the same run.

The floor is the bare matrix products of forward and backward (for `ilo` of both views) and one bare
fused optimiser update on the same tensors: what no implementation with these tensors can avoid.
Steps and floors alternate, so that the machine's moods meet both, and CPU time is measured, since
other programs take wall time. Beside them is the same step with MKL's products, where another
library makes them (`iunet/machine/cpu.py`). For `mlp_tab` also: β-LASSO's step and update against
SGD's, and the share of SCARF in a step of `ilo`, for tables of several widths.

    python benchmarks/training_step.py [--threads 1] [--steps 50] [network ...]
    python benchmarks/training_step.py --memory mlp_vis
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from iunet.machine.cpu import EXACT, products, set_products  # noqa: E402
from iunet.method.augment import scarf  # noqa: E402
from iunet.method.catalog import OBJECTIVES, load  # noqa: E402
from iunet.method.objectives import Batch  # noqa: E402
from iunet.networks.network import NetworkSpec, build_network  # noqa: E402
from iunet.training.supernet import SupernetSettings, make_optimiser  # noqa: E402
from iunet.training.support.environment import set_up_torch  # noqa: E402

BATCH = 128
SGD = SupernetSettings(0.25, "sup", 1, BATCH, 1e-3, 0, momentum=0.9, nesterov=True)
LASSO = SupernetSettings(1.0, "lasso", 1, BATCH, 0.1, 0, l1=1e-5, beta=50)
COLUMNS = (20, 216, 784)  # of tables, for SCARF
SPECS = {
    "mlp_tab": NetworkSpec("mlp_tab", 10, n_inputs=216, options={"width": 512, "depth": 9}),
    "mlp_vis": NetworkSpec("mlp_vis", 10, side=32, options={"alpha": 8}),
}


def step_function(
    spec: NetworkSpec, objective: str, settings: SupernetSettings = SGD
) -> Callable[[], None]:
    """One step as the supernet stage makes it (without reading and transforming data)."""
    network = build_network(spec).train()
    optimiser = make_optimiser(network, settings)
    shape = (spec.n_inputs,) if spec.name == "mlp_tab" else (3, spec.side, spec.side)
    x, x_g = torch.randn(2, BATCH, *shape).unbind()
    labels = torch.arange(BATCH) % spec.n_classes

    def step() -> None:
        loss, _ = load(OBJECTIVES[objective].loss)(network, Batch(x, labels, lambda: x_g))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


def floor_function(spec: NetworkSpec, objective: str) -> Callable[[], None]:
    network = build_network(spec)
    linears = [module for module in network.modules() if isinstance(module, nn.Linear)]
    rows = [BATCH if objective == "sup" else 2 * BATCH] * (len(linears) - 1) + [BATCH]
    products: list[tuple[Tensor, Tensor, Tensor]] = []
    for i, (linear, n) in enumerate(zip(linears, rows, strict=True)):
        weight = linear.weight.detach()
        x, dy = torch.randn(n, weight.shape[1]), torch.randn(n, weight.shape[0])
        products.append((x, weight.T, torch.empty(n, weight.shape[0])))  # forward
        products.append((dy.T, x, torch.empty_like(weight)))  # gradient of the weight
        if i > 0:
            products.append((dy, weight, torch.empty_like(x)))  # gradient of the input
    update = update_function(network, SGD)

    def floor() -> None:
        for a, b, out in products:
            torch.mm(a, b, out=out)
        update()

    return floor


def by_mkl(step: Callable[[], None]) -> Callable[[], None]:
    """The step with the products that torch makes by itself."""
    ours = products()

    def other_step() -> None:
        set_products(EXACT)
        step()
        set_products(ours)

    return other_step


def update_function(network: nn.Module, settings: SupernetSettings) -> Callable[[], None]:
    """The optimiser's update alone, with gradients that stay."""
    optimiser = make_optimiser(network, settings)
    for parameter in network.parameters():
        parameter.grad = 1e-3 * torch.randn_like(parameter)
    return optimiser.step


def scarf_function(columns: int) -> Callable[[], None]:
    generator = torch.Generator().manual_seed(0)
    train = torch.randn(10 * BATCH, columns, generator=generator)

    def corrupt() -> None:
        scarf(train[:BATCH], train, 0.6, generator)

    return corrupt


def peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def cpu_seconds(function: Callable[[], None]) -> float:
    """Of all threads together."""
    start = time.process_time()
    function()
    return time.process_time() - start


def medians(functions: list[Callable[[], None]], repetitions: int) -> list[float]:
    """The median time of each, in milliseconds; they take turns."""
    for function in functions * 2:
        function()
    times = [[cpu_seconds(function) for function in functions] for _ in range(repetitions)]
    return [1e3 * statistics.median(column) for column in zip(*times, strict=True)]


def print_parts_of_mlp_tab(repetitions: int) -> None:
    spec = SPECS["mlp_tab"]
    steps = [step_function(spec, "sup", settings) for settings in (SGD, LASSO)]
    updates = [update_function(build_network(spec), settings) for settings in (SGD, LASSO)]
    sgd, lasso, sgd_update, lasso_update = medians([*steps, *updates], repetitions)
    print(
        f"\nmlp_tab, β-LASSO: step {lasso:.2f} ms, {lasso / sgd:.3f} of SGD's; update "
        f"{lasso_update:.2f} ms, SGD's {sgd_update:.2f}"
    )
    for columns in COLUMNS:
        step = step_function(
            NetworkSpec("mlp_tab", 10, n_inputs=columns, options=SPECS["mlp_tab"].options), "ilo"
        )
        step_ms, scarf_ms = medians([step, scarf_function(columns)], repetitions)
        share = scarf_ms / (step_ms + scarf_ms)
        print(f"mlp_tab, SCARF of {columns} columns: {scarf_ms:.2f} ms, {share:.1%} of an ILO step")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(SPECS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--memory", action="store_true", help="peak memory of steps, no floor")
    arguments = parser.parse_args()
    set_up_torch("cpu", arguments.threads, arguments.threads)
    if arguments.memory:
        for name in arguments.networks:
            step = step_function(SPECS[name], "ilo")
            for _ in range(3):
                step()
            print(f"{name}: peak memory of training with ilo {peak_gib():.2f} GiB")
        return
    print(f"CPU time of steps of {BATCH} rows, {arguments.threads} thread(s), medians")
    print("network   objective    step ms  floor ms  floor/step   MKL ms")
    for name in arguments.networks:
        for objective in ("sup", "ilo"):
            step, floor = (f(SPECS[name], objective) for f in (step_function, floor_function))
            step_ms, floor_ms, mkl_ms = medians([step, floor, by_mkl(step)], arguments.steps)
            print(
                f"{name:10}{objective:11}{step_ms:9.2f}{floor_ms:10.2f}{floor_ms / step_ms:12.3f}"
                f"{mkl_ms:9.2f}",
                flush=True,
            )
    if "mlp_tab" in arguments.networks:
        print_parts_of_mlp_tab(arguments.steps)


if __name__ == "__main__":
    main()
