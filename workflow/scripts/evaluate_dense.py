"""Rule evaluate_dense: a network without pruning, on validation and test data."""

from _job import run_name, start, torch_device

from iunet.evaluation.evaluate import evaluate_dense

snakemake = start(globals())

evaluate_dense(
    inputs=dict(snakemake.input.items()),
    output=snakemake.output[0],
    run=run_name(snakemake),
    augment=snakemake.params.augment,
    device=torch_device(snakemake),
)
