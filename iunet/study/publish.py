"""A study as it is published: rows, tables, figures, page, and the tables of its documents.

The documents are written by hand around tables that stand between two markers,
`<!-- table: NAME -->` and `<!-- end -->`; what stands there is filled in from runs.csv.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from iunet.artifacts import write_text
from iunet.errors import UserError
from iunet.page.build import lossless_webp
from iunet.study.archive import pack
from iunet.study.tables import filled_tables

MARKED = re.compile(r"(<!-- table: (.+?) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def publish(results: Path, folder: Path) -> None:
    """Copy what readers want from the results to `folder`, and fill the documents' tables."""
    for needed in ("tables", "figures", "runs.csv", "report/index.html"):
        if not (results / needed).exists():
            raise UserError(f"{results / needed} is not there: the study's page was not made yet.")
    for kind in ("tables", "figures"):
        shutil.rmtree(folder / kind, ignore_errors=True)
        (folder / kind).mkdir()
    for path in sorted((results / "tables").iterdir()):
        if path.suffix in (".csv", ".json"):
            shutil.copyfile(path, folder / "tables" / path.name)
    for path in sorted((results / "figures").glob("*.png")):
        (folder / "figures" / f"{path.stem}.webp").write_bytes(lossless_webp(path)[0])
    shutil.copyfile(results / "runs.csv", folder / "runs.csv")
    shutil.copyfile(results / "report" / "index.html", folder / "index.html")
    pack(results, folder / "reports.tar.xz")
    (folder / "figures" / "overview.webp").unlink()  # the same as a PNG, which README shows
    shutil.copyfile(results / "figures" / "overview.png", folder / "picture.png")
    refresh(folder)


def refresh(folder: Path) -> None:
    """Fill the tables of all documents again, from runs.csv and the claims."""
    tables = filled_tables(folder)
    for path in documents(folder):
        write_text(path, fill(path.read_text(encoding="utf-8"), tables, path))


def documents(folder: Path) -> list[Path]:
    return [folder / "README.md", folder / "details.md"]


def fill(text: str, tables: dict[str, str], path: Path) -> str:
    """The text with every marked table as `tables` has it."""
    for _, name, _ in MARKED.findall(text):
        if name not in tables:
            raise UserError(
                f"{path} has a place for the table '{name}', which no code fills. Known tables: "
                f"{', '.join(tables)}."
            )
    return MARKED.sub(lambda match: f"{match[1]}{tables[match[2]]}{match[3]}", text)
