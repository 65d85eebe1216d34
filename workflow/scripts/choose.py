"""Rule choose: the ratio, or β-LASSO's l1, with the best validation score."""

from _job import start

from iunet.evaluation.choice import write_choice
from iunet.runs.names import CutName, SupernetName

job = start(globals())
inputs, seeds = job.inputs, job.params.seeds


def by_seed(files, place):
    """The files of a candidate: seeds within candidates."""
    return dict(zip(seeds, files[place * len(seeds) : (place + 1) * len(seeds)], strict=True))


write_choice(
    candidates=[
        {
            "supernet": supernet,
            "cut": cut,
            "ratio": CutName.parse(cut).ratio,
            "l1": SupernetName.parse(supernet).l1,
            "reports": by_seed(inputs["reports"], place),
            "predictions": by_seed(inputs["predictions"], place),
        }
        for place, (supernet, cut) in enumerate(job.params.candidates)
    ],
    valid=inputs["valid"],
    metric=job.params.metric,
    facts=job.facts("dataset", "network", "method"),
    output=job.output,
)
