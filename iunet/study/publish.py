"""A study as it is published: rows, tables, figures, page, facts, and a README made from them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from PIL import Image

from iunet.artifacts import read_json, write_text
from iunet.errors import UserError
from iunet.machine.job_times import job_times
from iunet.page.build import lossless_webp
from iunet.page.facts import environments
from iunet.study.archive import pack
from iunet.study.findings import conditions, findings, numbers
from iunet.study.mechanism import mechanism_text
from iunet.study.picture import draw
from iunet.study.real_size import copy_table, real_size_sentence, real_size_text
from iunet.study.rows import read_rows
from iunet.study.sweeps import sweeps_text
from iunet.study.texts import (
    answers_text,
    claims_text,
    far_text,
    metrics_text,
    progress_text,
    table7_text,
    tuned_text,
)

Row = dict[str, Any]
FORMS = (".csv", ".json")
BLOCK = "<!-- {name}: made by `make publish`, not by hand -->\n{text}\n<!-- end of {name} -->"


def publish(
    results: Path, size_results: Path, commit: str | None, folder: Path, front_page: Path
) -> None:
    """Copy what readers want from the results to `folder`, and bring its README up to date."""
    for needed in ("tables", "figures", "runs.csv", "report/index.html"):
        if not (results / needed).exists():
            raise UserError(f"{results / needed} is not there: the study's page was not made yet.")
    for kind in ("tables", "figures"):
        shutil.rmtree(folder / kind, ignore_errors=True)
        (folder / kind).mkdir()
    for path in sorted((results / "tables").iterdir()):
        if path.suffix in FORMS:
            shutil.copyfile(path, folder / "tables" / path.name)
    for path in sorted((results / "figures").glob("*.png")):
        with Image.open(path) as image:
            (folder / "figures" / f"{path.stem}.webp").write_bytes(lossless_webp(image))
    shutil.copyfile(results / "runs.csv", folder / "runs.csv")
    shutil.copyfile(results / "report" / "index.html", folder / "index.html")
    pack(results, folder / "reports.tar.xz")
    copy_table(size_results, folder)
    rows = read_rows(folder / "runs.csv")
    draw(rows, folder / "picture.png")
    write_text(folder / "facts.md", facts_text(results, commit, rows))
    refresh(folder, front_page)


def refresh(folder: Path, front_page: Path) -> None:
    """Write the parts of the documents that follow from runs.csv and the claims."""
    for path, parts in made_parts(folder, front_page).items():
        write_text(path, with_blocks(path.read_text(encoding="utf-8"), parts, path))


def made_parts(folder: Path, front_page: Path) -> dict[Path, dict[str, str]]:
    """What is made of each document, by the names of its blocks."""
    rows = read_rows(folder / "runs.csv")
    claims = read_json(folder / "tables" / "claims.json")
    lines = findings(rows, real_size_sentence(folder))
    numbered = [f"{i}. {line}" for i, line in enumerate(lines, start=1)]
    parts = ["\n".join(numbered), numbers(rows), conditions(rows)]
    found = {"findings": "\n\n".join(filter(None, parts))}
    return {
        front_page: found,
        folder / "README.md": found
        | {
            "progress": progress_text(rows),
            "claims": claims_text(claims["data"]["claims"]),
            "mechanism": mechanism_text(rows),
            "table 7": table7_text(rows),
        },
        folder / "details.md": {
            "answers": answers_text(rows),
            "metrics": metrics_text(rows),
            "far": far_text(rows),
            "tuned": tuned_text(rows),
            "sweeps": sweeps_text(rows),
            "real size": real_size_text(folder),
        },
    }


def with_blocks(text: str, parts: dict[str, str], path: Path) -> str:
    for name, part in parts.items():
        pattern = re.compile(rf"<!-- {name}:.*?<!-- end of {name} -->", re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise UserError(f"{path} needs one block '<!-- {name}: … -->'.")
        block = BLOCK.format(name=name, text=part)
        text = pattern.sub(lambda _, block=block: block, text)
    return text


def facts_text(results: Path, commit: str | None, rows: list[Row]) -> str:
    """Where and with what the study ran, from the runs' own reports."""
    evaluations = map(read_json, sorted((results / "runs").rglob("evaluation.json")))
    machine, versions = environments(evaluations)
    jobs = job_times(results / "benchmarks")
    hours = sum(entry["seconds"] for entry in jobs.values()) / 3600
    failed = [row for row in rows if row["failed"]]
    lines = [
        "# Facts of the run",
        "",
        f"- published with commit: {commit or 'not in git'}",
        "- config: config/cpu-study.yaml",
    ]
    lines += [f"- {key}: {value}" for key, value in {**machine, **versions}.items()]
    unnamed = len({row["id"] for row in rows if not row["processor"]})
    lines += [
        f"- models whose reports name no cpu (tuned baselines, the oldest runs): {unnamed}",
        f"- hours of all jobs, added up, each by its last start (two ran at once): {hours:.1f}",
        "",
        "| rule | jobs | seconds |",
        "|---|---|---|",
    ]
    lines += [f"| {rule} | {j['jobs']:.0f} | {j['seconds']:.0f} |" for rule, j in jobs.items()]
    lines += ["", f"## Failed runs ({len(failed)})", ""]
    lines += [
        f"- {r['dataset']}, {r['network']}, {r['method']}, {r['supernet']}, seed {r['seed']}: "
        f"{r['failed']}"
        for r in failed
    ] or ["None."]
    return "\n".join(lines) + "\n"
