"""Rule choose: the ratio, or β-LASSO's l1, with the best validation score."""

from itertools import product

from _job import start

from iunet.method.choice import select

snakemake = start(globals())
params, wildcards = snakemake.params, snakemake.wildcards
reports = dict(
    zip(product(map(tuple, params.candidates), params.seeds), snakemake.input, strict=True)
)

select(
    candidates=[
        {
            "supernet": supernet,
            "cut": cut,
            "reports": {seed: reports[(supernet, cut), seed] for seed in params.seeds},
        }
        for supernet, cut in params.candidates
    ],
    metric=params.metric,
    facts={key: wildcards[key] for key in ("dataset", "network", "method")},
    output=snakemake.output[0],
)
