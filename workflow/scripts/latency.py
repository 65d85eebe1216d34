"""Rule latency: bytes and latency of the subnetwork that a method chose."""

from _job import start

from iunet.evaluation.measure import measure_chosen

snakemake = start(globals())
inputs, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards

measure_chosen(
    choice=inputs.choice,
    candidates=[
        {"supernet": supernet, "cut": cut, "weights": weights, "mask": mask, "mask_report": report}
        for (supernet, cut), weights, mask, report in zip(
            params.candidates, inputs.weights, inputs.masks, inputs.mask_reports, strict=True
        )
    ],
    dense=inputs.dense,
    description=inputs.description,
    run={key: wildcards[key] for key in ("dataset", "network", "method")} | {"seed": params.seed},
    output=snakemake.output[0],
)
