"""The time of a training step against its floor, measured in the same run.

The floor is the bare matrix products of forward and backward (for `ilo` of both views) and one bare
fused optimiser update on the same tensors: what no implementation with these tensors can avoid.
Steps and floors alternate, so that the machine's moods meet both.

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

from iunet.method.objectives import supernet_loss  # noqa: E402
from iunet.networks.network import NetworkSpec, build_network  # noqa: E402
from iunet.training.support.environment import set_up_torch  # noqa: E402

BATCH = 128
SPECS = {
    "mlp_tab": NetworkSpec("mlp_tab", 10, n_inputs=216, options={"width": 512, "depth": 9}),
    "mlp_vis": NetworkSpec("mlp_vis", 10, side=32, options={"alpha": 8}),
}


def sgd(parameters) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, nesterov=True, fused=True)


def step_function(spec: NetworkSpec, objective: str) -> Callable[[], None]:
    """One step as the supernet stage makes it (without reading and transforming data)."""
    network = build_network(spec).train()
    optimiser = sgd(network.parameters())
    shape = (spec.n_inputs,) if spec.name == "mlp_tab" else (3, spec.side, spec.side)
    x, x_g = torch.randn(2, BATCH, *shape).unbind()
    labels = torch.arange(BATCH) % spec.n_classes

    def step() -> None:
        loss, _ = supernet_loss(network, x, labels, lambda: x_g, objective, 1.0)
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
    optimiser = sgd(network.parameters())
    for parameter in network.parameters():
        parameter.grad = torch.randn_like(parameter)

    def floor() -> None:
        for a, b, out in products:
            torch.mm(a, b, out=out)
        optimiser.step()

    return floor


def peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


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
    print(f"batch {BATCH}, {arguments.steps} steps, {arguments.threads} thread(s), medians")
    print(f"{'network':10}{'objective':11}{'step ms':>9}{'floor ms':>10}{'floor/step':>12}")
    for name in arguments.networks:
        for objective in ("sup", "ilo"):
            step, floor = (f(SPECS[name], objective) for f in (step_function, floor_function))
            for function in (step, floor, step, floor):
                function()
            times = [(seconds(step), seconds(floor)) for _ in range(arguments.steps)]
            step_s, floor_s = (statistics.median(t) for t in zip(*times, strict=True))
            ratio = floor_s / step_s
            print(
                f"{name:10}{objective:11}{1e3 * step_s:9.2f}{1e3 * floor_s:10.2f}{ratio:12.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
