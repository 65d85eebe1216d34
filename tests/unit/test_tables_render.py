"""Table documents as CSV, Markdown, HTML and LaTeX."""

from __future__ import annotations

import csv
import functools
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from run_frames import run, table_of

from iunet.escape import latex_text
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.paper_values import METHODS
from iunet.tables.render.forms import write_table

FORMS = ("json", "csv", "markdown", "html", "latex")


def vision_table():
    rows = [run("cifar10", "mlp_vis", "dense", s, 59.0 + s) for s in (0, 1)]
    rows += [run("cifar10", "mlp_vis", "omp", s, missing="not finished") for s in (0, 1)]
    rows.append(run("cifar10", "mlp_vis", "iunet", 0, 64.0, disconnected=True))
    return table_of("table1", *rows)


@pytest.fixture
def render(tmp_path):
    def write(document) -> dict[str, str]:
        output = {form: str(tmp_path / f"table.{form}") for form in FORMS}
        write_table(document, output)
        return {form: Path(path).read_text(encoding="utf-8") for form, path in output.items()}

    return write


def read_lines(text):
    return list(csv.DictReader(text.splitlines()))


def test_csv_is_tidy_and_exact(render):
    lines = read_lines(render(vision_table())["csv"])
    assert len(lines) == 4 * 2  # columns and metrics; one row
    dense, omp, _, iunet = (line for line in lines if line["metric"] == "accuracy")
    assert (dense["network"], dense["dataset"], dense["column"], dense["metric"]) == (
        "MLP_VIS",
        "CIFAR10",
        "dense",
        "accuracy",
    )
    assert float(dense["mean"]) == 59.5 and float(dense["std"]) == 0.5**0.5 and dense["n"] == "2"
    assert (dense["paper"], dense["paper_std"], dense["agrees"]) == ("59.266", "0.05", "yes")
    assert float(dense["difference"]) == 59.5 - 59.266
    assert (omp["mean"], omp["missing"], omp["paper"]) == ("", "not finished", "59.668")
    assert (iunet["std"], iunet["best"], iunet["agrees"]) == ("", "True", "n/a")
    assert iunet["notes"] == "disconnected (1 of 1 seeds)"


def test_csv_has_the_papers_value_with_its_metric(render):
    row = run("vehicle", "mlp_tab", "iunet", 0, 60.0, balanced=70.0, swapped=80.0)
    lines = read_lines(render(table_of("table7", row))["csv"])
    iunet = {line["metric"]: line for line in lines if line["column"] == "iunet"}
    assert iunet["swapped_balanced_accuracy"]["paper"] == "81.805"
    assert iunet["balanced_accuracy"]["paper"] == iunet["accuracy"]["paper"] == ""
    assert len(lines) == len(METHODS) * 3


def test_markdown(render):
    text = render(vision_table())["markdown"]
    header = next(line for line in text.splitlines() if line.startswith("| Network"))
    assert [c.strip() for c in header.split("|")[1:-1]] == [
        "Network",
        "Dataset",
        "Dense",
        "OMP",
        "β-LASSO",
        "IUNET",
    ]
    assert "59.500 ± 0.707" in text and "**64.000** [a]" in text
    assert "Missing (not finished): MLP_VIS CIFAR10 (OMP)." in text
    assert "Missing (not in this run): MLP_VIS CIFAR10 (β-LASSO)." in text
    assert "[a] disconnected (1 of 1 seeds)" in text
    assert "## Side by side with the paper" in text
    compared = next(line for line in text.splitlines() if "59.266 ± 0.050" in line)
    assert [c.strip() for c in compared.split("|")[1:-1]] == [
        "MLP_VIS",
        "CIFAR10",
        "Dense",
        "Accuracy",
        "59.266 ± 0.050",
        "59.500 ± 0.707",
        "+0.234",
        "yes",
    ]


class Counter(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.bold, self.rows = [], [], 0

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "b":
            self.bold.append(data)


def test_html(render):
    parser = Counter()
    parser.feed(render(vision_table())["html"].replace("<!doctype html>", ""))
    assert parser.open == [] and parser.bold == ["64.000"] * 2  # accuracy, balanced accuracy
    assert parser.rows == 2 * 2 + 5  # header and row of each; header and a line per paper's value


def test_latex(render):
    text = render(vision_table())["latex"]
    assert r"\textbf{64.000}$^{\mathrm{a}}$" in text
    assert r"59.500 $\pm$ 0.707" in text and r"MLP\_VIS" in text
    assert r"$\beta$-LASSO" in text and r"\toprule" in text


NASTY = r"100% & $x_1^2$ #{~} \ <a|b>"


def nasty_table():
    cells = {"r": {"c": Cell(values={VALUE: Value(text=NASTY)}, notes=[NASTY])}}
    return TableDocument(
        id="nasty",
        title=NASTY,
        caption=NASTY,
        row_header=["Row"],
        rows=[Row("r", [NASTY], [NASTY])],
        columns=[Column("c", NASTY)],
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        notes=[NASTY],
    )


@functools.cache
def all_tables():
    rows = [run(f"d{i}", "mlp_tab", m, 0, 60.0 + i) for i in range(46) for m in METHODS[:3]]
    long = table_of("table7", *rows)
    return (
        vision_table(),
        nasty_table(),
        long,
        table_of("ranking", *rows),
        table_of("metric_problem"),
    )


@pytest.mark.parametrize("number", range(5))
def test_latex_is_well_formed(render, number):
    """Balanced braces, formulas and environments, one kind of column count, nothing unescaped."""
    text = render(all_tables()[number])["latex"]
    plain = re.sub(r"^%.*\n", "", text)
    bare = re.sub(r"\\(?:[&%$#_{}]|\\)", "", plain)  # without escaped characters and line ends
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    outside = "".join(bare.split("$")[::2])  # of formulas
    assert not re.search(r"[%#_^~<>|]", outside)
    assert all(ord(c) < 128 or c.isalpha() for c in bare)
    begun = re.findall(r"\\(begin|end)\{(\w+)\}", bare)
    stack = []
    for what, name in begun:
        if what == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert stack == []
    for alignment, body in re.findall(
        r"\\begin\{(?:tabular|longtable)\}\{(\w+)\}(.*?)\\end\{(?:tabular|longtable)\}", plain, re.S
    ):
        lines = [
            s
            for s in body.splitlines()
            if s.endswith(r"\\") and not s.startswith(("\\caption", "\\multicolumn"))
        ]
        assert lines
        assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(alignment) - 1}


def test_escape():
    assert latex_text("a_b & 5% ± κ") == r"a\_b \& 5\% $\pm$ $\kappa$"
    assert latex_text("\\") == r"\textbackslash{}"


def test_html_and_markdown_escape(render):
    texts = render(nasty_table())
    assert "<a|b>" not in texts["html"] and "&lt;a|b&gt;" in texts["html"]
    rows = [line for line in texts["markdown"].splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}


def test_a_table_without_rows(render):
    texts = render(table_of("ranking", run("a", "mlp_tab", "omp", 0, missing="gone")))
    assert texts["csv"] == "row,missing\n" and "Average rank" in texts["html"]
