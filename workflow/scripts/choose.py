"""Rule choose: the ratio, or β-LASSO's l1, with the best validation score."""

from _job import start

from iunet.evaluation.choice import Candidate, write_choice
from iunet.runs.names import CutName, SupernetName

snakemake = start(globals())
inputs, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
n_seeds = len(params.seeds)


def by_seed(files, place):
    """The files of a candidate: seeds within candidates."""
    return dict(zip(params.seeds, files[place * n_seeds : (place + 1) * n_seeds], strict=True))


write_choice(
    candidates=[
        Candidate(
            supernet,
            cut,
            CutName.parse(cut).ratio,
            SupernetName.parse(supernet).l1,
            by_seed(inputs.reports, place),
            by_seed(inputs.predictions, place),
        )
        for place, (supernet, cut) in enumerate(params.candidates)
    ],
    valid=inputs.valid,
    metric=params.metric,
    facts={key: wildcards[key] for key in ("dataset", "network", "method")},
    output=snakemake.output[0],
)
