"""The decoder stage: a supernet's decoder, trained on its frozen encoder by the fine-tune recipe.

It is for supernets with an objective that trains no decoder (`scl`), which would predict with an
initial one. The encoder is in eval mode and does not change, so h = encoder(x) is computed once,
and the recipe trains the decoder alone.
"""

from __future__ import annotations

import torch
from torch import Tensor

from iunet.artifacts import read_json, read_tensors, write_json
from iunet.data.load import Inputs, Part, TrainingData, load_part, make_inputs
from iunet.networks.network import Network, NetworkSpec, build_network
from iunet.scoring.prediction import EVALUATION_BATCH
from iunet.training.finetune import Finetuned, FinetuneSettings, fit_subnetwork
from iunet.training.members import write_members
from iunet.training.support.checkpoint import Checkpoint
from iunet.training.support.job import Job


class Features:
    """Rows that are the decoder's inputs already."""

    def prepare(self, raw: Tensor) -> Tensor:
        return raw


@torch.no_grad()
def encode(network: Network, inputs: Inputs, part: Part) -> Part:
    """h of every row, in eval mode."""
    network.eval()
    chunks = part.raw.split(EVALUATION_BATCH)
    return Part(torch.cat([network.encoder(inputs.prepare(raw)) for raw in chunks]), part.labels)


def fit_decoder(
    network: Network,
    supernet: dict[str, Tensor],
    data: TrainingData,
    settings: FinetuneSettings,
    run: str = "decoder",
    checkpoint: Checkpoint | None = None,
) -> Finetuned:
    """Train the decoder of a supernet, from its present weights; members are decoder states."""
    network.load_state_dict(supernet)
    train, valid = (encode(network, data.inputs, part) for part in (data.train, data.valid))
    decoder = network.decoder
    start = {name: tensor.clone() for name, tensor in decoder.state_dict().items()}
    features = TrainingData(train, Features(), valid)
    fitted = fit_subnetwork(decoder, start, {}, features, settings, run, checkpoint)
    fitted.members = [{f"decoder.{k}": t for k, t in m.items()} for m in fitted.members]
    return fitted


def train_decoder(
    inputs: dict[str, str], output: dict[str, str], settings: FinetuneSettings, job: Job
) -> None:
    """The stage: read the supernet, train its decoder, and write the decoder and the report."""
    description = read_json(inputs["description"])
    checkpoint = job.checkpoint(output["weights"], "decoder")
    train, valid = (load_part(inputs[part], job.device) for part in ("train", "valid"))
    prepare = make_inputs(read_json(inputs["preprocessing"]), job.device)
    fitted = fit_decoder(
        build_network(NetworkSpec(**description["network"])).to(job.device),
        read_tensors(inputs["supernet"], job.device),
        TrainingData(train, prepare, valid),
        settings,
        job.run,
        checkpoint,
    )
    write_members(output["weights"], fitted.members, {})
    report = job.report(description, settings, fitted.trained)
    write_json(output["report"], report | {"failed": None, "members": len(fitted.members)})
    checkpoint.remove()
