"""Rule latency: bytes and latency of the subnetwork that a method chose."""

from _job import start

from iunet.evaluation.latency import measure_chosen

job = start(globals())
inputs = job.inputs
files = zip(inputs["weights"], inputs["masks"], inputs["mask_reports"], strict=True)

measure_chosen(
    choice=inputs["choice"],
    candidates=[
        {"supernet": supernet, "cut": cut, "weights": weights, "mask": mask, "mask_report": report}
        for (supernet, cut), (weights, mask, report) in zip(
            job.params.candidates, files, strict=True
        )
    ],
    dense=inputs["dense"],
    description=inputs["description"],
    run=job.facts("dataset", "network", "method") | {"seed": job.params.seed},
    output=job.output,
)
