"""From artifacts on disk to the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iunet.artifacts import read_json
from iunet.page.build import write_page
from iunet.page.facts import collect_facts

LIMITS = [
    "Runs on a CPU repeat bit by bit for the same number of threads; on a GPU nearly so.",
    "No run of this page selects anything on test data: ratios, l1, trials and epochs are chosen "
    "on validation data, or fixed.",
]
DEMO_NOTICE = (
    "This page was made with stand-in data sets and short trainings: it shows that the workflow "
    "runs, and its numbers say nothing about the methods."
)


def make_page(
    tables: list[str],
    evidence: str,
    figures: list[dict[str, Any]],
    evaluations: list[str],
    config: dict[str, Any],
    config_name: str,
    unavailable: dict[str, str],
    benchmarks: str,
    project: Path,
    output: str,
) -> None:
    """All tables, figures and facts on one page; captions come from reports/captions/."""
    for figure in figures:
        figure["caption"] = figure_caption(project, figure["id"])
    facts = collect_facts(
        config_name,
        config,
        project,
        [*tables, *evaluations],
        (read_json(path) for path in evaluations),
        benchmarks,
    )
    bundle = {
        "notice": DEMO_NOTICE if config["stand_ins"] else None,
        "facts": vars(facts),
        "tables": [read_json(path) for path in tables],
        "evidence": read_json(evidence),
        "figures": figures,
        "decisions": str(project / "reports" / "decisions.yaml"),
        "unavailable": unavailable,
        "limits": LIMITS,
    }
    write_page(bundle, output, project / "reports" / "page")


def figure_caption(project: Path, name: str) -> str:
    """The text of reports/captions/<figure>.txt; all tuning histories share one."""
    kind = "tuning_history" if name.startswith("tuning-") else name
    return (project / "reports" / "captions" / f"{kind}.txt").read_text(encoding="utf-8").strip()
