"""Text that comes from data, made harmless where it is shown: it is text, and never a command."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\n")  # a spreadsheet takes a cell for a formula
MARKDOWN = re.compile(r"[\\`*<>|]|&(?=#?\w+;)|(?<=\])[(\[:]|(?<!\w)_|_(?!\w)")
LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be an option of the line end before it
    "]": "{]}",
    "*": "{*}",  # at the start of a row, too
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "√": r"$\surd$",
    "²": r"$^{2}$",
    "³": r"$^{3}$",
    "−": "$-$",
    "–": "--",
    "…": r"\dots{}",
    "“": "``",
    "”": "''",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "⊙": r"$\odot$",
    "†": r"$^{\dagger}$",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "θ": r"$\theta$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
}
HTML = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}  # not every Markdown knows a backslash before these


def csv_value(value: Any) -> Any:
    """A text that a spreadsheet would compute gets an apostrophe in front of it; numbers do not."""
    if not isinstance(value, str):
        return value
    # The csv module puts a lone carriage return into no quotes, but readers take it for a line end.
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    if not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def csv_text(rows: list[dict[str, Any]], fields: list[str] | None = None) -> str:
    """Rows that share their keys as CSV, in full precision; `fields` if there may be no row."""
    text = io.StringIO()
    names = list(rows[0]) if rows else fields or []
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([csv_value(name) for name in names])
    writer.writerows([csv_value(row[name]) for name in names] for row in rows)
    return text.getvalue()


def markdown_text(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    return MARKDOWN.sub(lambda found: HTML.get(found[0], f"\\{found[0]}"), " ".join(text.split()))


def latex_text(text: str) -> str:
    """Text that LaTeX shows as it is; characters that its fonts may lack become their names."""
    return "".join(LATEX.get(character, character) for character in " ".join(text.split()))
