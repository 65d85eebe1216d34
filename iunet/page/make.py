"""From artifacts on disk to the page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.artifacts import read_json
from iunet.page.build import write_page
from iunet.page.facts import collect_facts
from iunet.page.notice import notice
from iunet.tables.ask import CLAIMS, EVIDENCE
from iunet.tables.catalog import table_module

LIMITS = [
    "Runs on a CPU repeat bit by bit for the same number of threads; on a GPU nearly so.",
    "No run of this page selects anything on test data: ratios, l1, trials and epochs are chosen "
    "on validation data, or fixed.",
]


def make_page(
    tables: list[str],
    figures: list[dict[str, Any]],
    evaluations: list[str],
    run: dict[str, Any],
    project: Path,
    output: str,
) -> None:
    """All tables, figures and facts on one page; captions come from reports/captions/.

    `run` has the config, its name, the data sets that could not be had, and the folder of
    Snakemake's benchmarks.
    """
    config = run["config"]
    for figure in figures:
        figure["caption"] = figure_caption(project, figure["id"], config["experiments"])
        if figure["id"] in config["experiments"]:  # as its table is called
            figure["id"] += "-scores"
    facts = collect_facts(
        run["config_name"],
        config,
        project,
        [*tables, *evaluations],
        (read_json(path) for path in evaluations),
        run["benchmarks"],
    )
    documents = {document["id"]: document for document in map(read_json, tables)}
    groups = {name: table_module(name).GROUP for name in documents}
    claims, evidence = (
        next((documents.pop(n) for n in list(documents) if groups[n] == group), None)
        for group in (CLAIMS, EVIDENCE)
    )
    bundle = {
        "notice": notice(config, paper_config(project)),
        "facts": vars(facts),
        "tables": list(documents.values()),
        "claims": claims,
        "evidence": evidence,
        "figures": figures,
        "decisions": str(project / "reports" / "decisions.yaml"),
        "unavailable": run["unavailable"],
        "limits": LIMITS,
    }
    write_page(bundle, output, project / "reports" / "page")


def paper_config(project: Path) -> dict[str, Any]:
    import yaml

    return yaml.safe_load((project / "config" / "config.yaml").read_text(encoding="utf-8"))


def figure_caption(project: Path, name: str, experiments: Iterable[str] = ()) -> str:
    """The text of reports/captions/<figure>.txt; tuning histories, and experiments, share one."""
    kind = "tuning_history" if name.startswith("tuning-") else name
    kind = "scores" if name in experiments else kind
    return (project / "reports" / "captions" / f"{kind}.txt").read_text(encoding="utf-8").strip()
