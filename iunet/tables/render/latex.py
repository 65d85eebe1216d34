"""A table document as LaTeX with booktabs, to be \\input into a paper."""

from __future__ import annotations

from iunet.tables.render.view import Block, Text, View

SPECIAL = {
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
LONG = 45  # rows beyond which a table takes several pages


def escape(text: str) -> str:
    """Text that LaTeX shows as it is; characters that its fonts may lack become their names."""
    return "".join(SPECIAL.get(character, character) for character in " ".join(text.split()))


def latex(view: View) -> str:
    """Tables for \\usepackage{booktabs} (and longtable); one per metric, then the comparison."""
    packages = "% Needs \\usepackage{booktabs,longtable} and UTF-8 input.\n"
    blocks = view.all_blocks()
    parts = [_table(view, block, last=block is blocks[-1]) for block in blocks]
    return packages + "\n".join(parts)


def _table(view: View, block: Block, last: bool) -> str:
    title = f"{view.title}. {block.title}." if block.title else f"{view.title}."
    caption = f"\\caption{{{escape(title)} {escape(view.caption)}}}"
    alignment = "l" * block.n_labels + "r" * (len(block.header) - block.n_labels)
    head = [r"\toprule", _line([Text(label) for label in block.header]), r"\midrule"]
    body = [*(_line(row) for row in block.rows), r"\bottomrule"]
    if len(block.rows) > LONG:
        lines = [f"\\begin{{longtable}}{{{alignment}}}", caption + r" \\", *head, r"\endhead"]
        lines += [*body, r"\end{longtable}"]
    else:
        lines = [r"\begin{table}", r"\centering", caption, f"\\begin{{tabular}}{{{alignment}}}"]
        lines += [*head, *body, r"\end{tabular}", r"\end{table}"]
    notes = [rf"\noindent {escape(note)}\par" for note in view.notes] if last else []
    return "\n".join([*lines, *notes, ""])


def _line(row: list[Text]) -> str:
    return " & ".join(_cell(cell) for cell in row) + r" \\"


def _cell(cell: Text) -> str:
    text = escape(cell.text)
    if cell.best:
        text = rf"\textbf{{{text}}}"
    if cell.marks:
        text += rf"$^{{\mathrm{{{','.join(cell.marks)}}}}}$"
    return text
