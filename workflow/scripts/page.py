"""Rule page: the report, one page that works offline."""

from _job import ROOT, start

from iunet.page.build import make_page

job = start(globals())
inputs, params = job.inputs, job.params
pictures = zip(params.figures.items(), inputs["png"], inputs["pdf"], inputs["figures"], strict=True)

make_page(
    tables=inputs["tables"],
    figures=[
        {"id": name.replace("/", "-"), "title": title, "png": png, "pdf": pdf, "report": report}
        for (name, title), png, pdf, report in pictures
    ],
    evaluations=inputs["evaluations"],
    run={
        "config": job.config,
        "config_name": params.config_name,
        "unavailable": params.unavailable,
        "benchmarks": params.benchmarks,
    },
    project=ROOT,
    output=job.output,
)
