"""Rule page: the report, one page that works offline."""

from _job import ROOT, start

from iunet.page.build import make_page

snakemake = start(globals())
inputs, params = snakemake.input, snakemake.params

make_page(
    tables=inputs.tables,
    figures=[
        {"id": name.replace("/", "-"), "title": title, "png": png, "pdf": pdf}
        for (name, title), png, pdf in zip(
            params.figures.items(), inputs.png, inputs.pdf, strict=True
        )
    ],
    evaluations=inputs.evaluations,
    run={
        "config": snakemake.config,
        "config_name": params.config_name,
        "unavailable": params.unavailable,
        "benchmarks": params.benchmarks,
    },
    project=ROOT,
    output=snakemake.output[0],
)
