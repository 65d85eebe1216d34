"""Rule evaluate: a supernet and all its fine-tuned subnetworks on validation and test data."""

from _job import run_name, start, torch_device

from iunet.evaluation.evaluate import evaluate_supernet

snakemake = start(globals())
params, inputs = snakemake.params, dict(snakemake.input.items())
paths = (inputs.pop(key) for key in ("subnetworks", "masks", "mask_reports"))

evaluate_supernet(
    inputs=inputs,
    subnetworks=[
        {"name": name, "weights": weights, "mask": mask, "mask_report": report}
        for name, weights, mask, report in zip(params.cuts, *paths, strict=True)
    ],
    output=snakemake.output[0],
    run=run_name(snakemake),
    augment=params.augment,
    settings={"consistency": params.consistency},
    device=torch_device(snakemake),
)
