"""A study as it is published: rows, tables, figures, page, facts, and a README made from them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

from PIL import Image

from iunet.artifacts import read_json, write_text
from iunet.errors import UserError
from iunet.labels import METRIC_LABELS, SCORES, method_label
from iunet.machine.job_times import job_times
from iunet.page.build import lossless_webp
from iunet.page.facts import environments
from iunet.study.answers import SMALLEST, answers, nearer_metric, tuned_beside_paper
from iunet.study.archive import pack
from iunet.study.findings import findings
from iunet.study.picture import draw
from iunet.study.real_size import copy_table, real_size_sentence, real_size_text
from iunet.study.rows import read_rows
from iunet.study.sweeps import sweeps_text
from iunet.tables.claims import PAPER_TRIALS
from iunet.tables.effects import Effect

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
    """Write the parts of both READMEs that follow from runs.csv and the claims."""
    parts = blocks(folder)
    write_blocks(folder / "README.md", parts)
    write_blocks(front_page, {"findings": parts["findings"]})


def write_blocks(path: Path, parts: dict[str, str]) -> None:
    write_text(path, with_blocks(path.read_text(encoding="utf-8"), parts, path))


def blocks(folder: Path) -> dict[str, str]:
    """The parts of the README that are made, by name."""
    rows = read_rows(folder / "runs.csv")
    claims = read_json(folder / "tables" / "claims.json")
    found = findings(rows, real_size_sentence(folder))
    return {
        "claims": claims_text(claims["data"]["claims"]),
        "answers": answers_text(rows),
        "table 7": table7_text(rows),
        "sweeps": sweeps_text(rows),
        "real size": real_size_text(folder),
        "progress": progress_text(rows),
        "findings": "\n".join(f"{i}. {line}" for i, line in enumerate(found, start=1)),
    }


def with_blocks(text: str, parts: dict[str, str], path: Path) -> str:
    for name, part in parts.items():
        pattern = re.compile(rf"<!-- {name}:.*?<!-- end of {name} -->", re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise UserError(f"{path} needs one block '<!-- {name}: … -->'.")
        block = BLOCK.format(name=name, text=part)
        text = pattern.sub(lambda _, block=block: block, text)
    return text


# ---- texts


def claims_text(lines: list[dict[str, Any]]) -> str:
    head = "| claim of the paper | effect [95 % interval] | data sets | verdict | remarks |"
    rows = [
        f"| {line['claim']} | {_interval(line)} | {line['datasets'] or '–'} | {line['verdict']} | "
        f"{_remarks(line)} |"
        for line in lines
    ]
    return "\n".join([head, "|---" * 5 + "|", *rows])


def _remarks(line: dict[str, Any]) -> str:
    """What weighs a verdict; which runs are missing stands at the end of the README."""
    kept = [r for r in line["remarks"] if not r.endswith("not finished")]
    return "; ".join(kept).replace("|", "\\|")


def _interval(line: dict[str, Any]) -> str:
    if line["effect"] is None:
        return "–"
    unit = f" {line['unit']}" if line["unit"] else ""
    sign = "" if line["smallest"] is None else "+"  # of a share or a ratio there is none
    if line["low"] is None:
        return f"{line['effect']:{sign}.2f}{unit}"
    low, high = (f"{line[end]:{sign}.2f}" for end in ("low", "high"))
    return f"{line['effect']:{sign}.2f} [{low}, {high}]{unit}"


def answers_text(rows: list[Row]) -> str:
    head = "| question | on | difference in points [95 % interval] | data sets | answer |"
    lines = [head, "|---|---|---|---|---|"]
    for entry in answers(rows):
        found: Effect = entry["effect"]
        line = {"effect": found.mean, "low": found.low, "high": found.high}
        line |= {"unit": "", "smallest": SMALLEST}
        lines.append(
            f"| {entry['question']} | {entry['kind']} | {_interval(line)} | "
            f"{len(found.datasets)}{_cut_off(entry['cut_off'])} | {entry['verdict']} |"
        )
    return "\n".join(lines)


def _cut_off(datasets: list[str]) -> str:
    """Networks that lost a whole layer count with their scores, so a reader has to know of them."""
    return f"; cut off: {', '.join(datasets)}" if datasets else ""


def table7_text(rows: list[Row]) -> str:
    """Which metric the paper's MLP columns resemble, and how far the tuned baselines lie."""
    cells = nearer_metric(rows)
    swapped = [c for c in cells if c["nearer"] == "swapped_balanced_accuracy"]
    own = [c for c in cells if c["nearer"] == "balanced_accuracy"]
    lines = [
        f"Of {len(cells)} cells of the paper's MLP columns, {len(swapped)} lie nearer to our "
        f"swapped balanced accuracy and {len(own)} nearer to our balanced accuracy. "
        f"{sum(c['between'] for c in cells)} of them lie between the two; beyond both, the nearer "
        f"one says little. With accuracy as a third candidate, {_nearest(cells)}.",
    ]
    return "\n".join([*lines, "", tuned_text(tuned_beside_paper(rows))])


def _nearest(cells: list[Row]) -> str:
    counts = Counter(cell["nearest"] for cell in cells)
    named = [
        f"{counts[metric]} lie nearest to our {METRIC_LABELS[metric].lower()}" for metric in SCORES
    ]
    return ", ".join(named) + (f", {counts[None]} to two of them alike" if counts[None] else "")


def tuned_text(tuned: list[Row]) -> str:
    """Ours, its distance from the paper's, and the trials behind it; a line for each data set."""
    if not tuned:
        return "The tuned baselines were not run yet."
    methods = [m for m in PAPER_TRIALS if any(t["method"] == m for t in tuned)]
    lines = [
        "The tuned baselines: our balanced accuracy, the distance to the paper's, and the trials.",
        "",
        f"| data set | {' | '.join(map(method_label, methods))} |",
        "|---" * (1 + len(methods)) + "|",
    ]
    for dataset in dict.fromkeys(t["dataset"] for t in tuned):
        cells = {t["method"]: t for t in tuned if t["dataset"] == dataset}
        shown = (_tuned_cell(cells[m]) if m in cells else "not run" for m in methods)
        lines.append(f"| {dataset} | {' | '.join(shown)} |")
    lines.append("")
    return "\n".join(lines + [f"- {_budget(m, tuned)}" for m in methods])


def _tuned_cell(cell: Row) -> str:
    return f"{cell['ours']:.1f} ({cell['ours'] - cell['paper']:+.1f}), {cell['trials']}"


def _budget(method: str, tuned: list[Row]) -> str:
    """Whether more trials might have helped: how late in a study its best one came."""
    cells = [t for t in tuned if t["method"] == method]
    late = sum(2 * t["best_trial"] > t["trials"] for t in cells)
    distance = fmean(t["ours"] - t["paper"] for t in cells)
    trials = sorted({min(t["trials"] for t in cells), max(t["trials"] for t in cells)})
    return (
        f"{method_label(method)}: {distance:+.1f} points in the mean of {len(cells)} sets, with "
        f"{' to '.join(map(str, trials))} trials where the paper has {PAPER_TRIALS[method]}; the "
        f"best trial came in the second half of the study on {late} of them."
    )


def progress_text(rows: list[Row]) -> str:
    """What there is: data sets, methods with all their seeds, models."""
    seeds = {row["seed"] for row in rows}
    found: dict[str, dict[str, set[int]]] = {}
    for row in rows:
        found.setdefault(row["dataset"], {}).setdefault(row["method"], set()).add(row["seed"])
    models = len({row["id"] for row in rows})
    sets = ", ".join(f"{name} ({_methods(of, len(seeds))})" for name, of in found.items())
    return f"{models} models evaluated, {len(seeds)} seeds: {sets}."


def _methods(seeds_of: dict[str, set[int]], n_seeds: int) -> str:
    whole = sum(len(seeds) == n_seeds for seeds in seeds_of.values())
    text = f"{whole} method{'s' if whole != 1 else ''}"
    return text + (f", {len(seeds_of) - whole} in part" if whole < len(seeds_of) else "")


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
    lines += [
        f"- hours of all jobs, each by its last start: {hours:.1f}",
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
