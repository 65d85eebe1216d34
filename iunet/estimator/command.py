"""The command `iunet`: fit, predict and export without writing a program.

Exit codes: 0 if it worked; 1 for a bug (with a traceback); 2 for what the user can correct.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from iunet import __version__
from iunet.artifacts import write_text
from iunet.deploy import INSTALL_EXPORT
from iunet.errors import UserError, naming, nearest, one_line, printable

if TYPE_CHECKING:
    import pandas as pd


def main(arguments: list[str] | None = None) -> int:
    """Run one of the subcommands; returns the exit code."""
    parsed = parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print_message(f"warning: {message}")
            parsed.run(parsed)
    except UserError as error:
        print_message(str(error))
        return 2
    except OSError as error:
        if error.filename is None:
            raise
        print_message(f"{error.filename} cannot be read or written ({error.strerror}).")
        return 2
    except KeyboardInterrupt:
        print_message("interrupted")
        return 130
    return 0


def print_message(text: str) -> None:
    print(f"iunet: {printable(text)}", file=sys.stderr)


# ---- the arguments

DEFAULT = "(default: %(default)s)"


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="iunet",
        description="Small, invariance-preserving networks for your own table (IUNET).",
        epilog="`iunet fit --help` and so on say more. In Python: iunet.IUNetClassifier.",
    )
    top.add_argument("--version", action="version", version=f"iunet {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Callable, example: str, **texts: str) -> Callable:
        """A subcommand, named by the first word of its example; returns its `add_argument`."""
        name = example.partition(" ")[0]
        made = commands.add_parser(name, epilog=f"Example: iunet {example}", **texts)
        made.set_defaults(run=run)
        return made.add_argument

    add = command(
        run_fit,
        "fit customers.csv --target label --categorical zip_code --out model",
        help="train a pruned network on a table",
        description="Train on all rows of a CSV, TSV or Parquet file and save the model. First, a "
        "model trained on nine tenths of the rows is scored on the other tenth; the last line "
        "shows the score with its 95 % interval. The settings are the paper's. Columns of text "
        "or true/false are categories, all others are numbers.",
    )
    names = {"nargs": "+", "default": [], "metavar": "COLUMN", "action": "extend"}
    add("data", type=Path, help="CSV, TSV or Parquet file with a header")
    add("--target", required=True, help="the column to predict")
    add("--out", required=True, type=Path, help="file to save the model in")
    add("--categorical", help="numeric columns that hold categories", **names)
    add("--leave-out", help="columns not to use, such as an id", **names)
    add("--valid", type=Path, help="score the model on this file, not on a tenth of the rows")
    add("--no-valid", action="store_true", help="skip the score, which halves the time")
    add("--quick", action="store_true", help="train for about a tenth of the time")
    add("--ratio", default=8, type=float, help=f"keep 1 of this many weights {DEFAULT}")
    structures = {"default": "weight", "choices": ("weight", "unit")}
    add("--structure", help=f"prune single weights, or whole units {DEFAULT}", **structures)
    add("--balanced", action="store_true", help="give all classes the same weight, even rare ones")
    add("--seed", default=0, type=int, help=f"seed of all random numbers {DEFAULT}")
    add("--threads", default=1, type=int, help=f"torch's threads on a CPU {DEFAULT}")
    devices = {"default": "auto", "choices": ("auto", "cpu", "cuda")}
    add("--device", help=f"device to train on {DEFAULT}", **devices)

    add = command(
        run_predict,
        "predict model new.csv --out predictions.csv",
        help="predict the rows of a file with a saved model",
        description="Write a CSV with the predicted label of every row. Columns are found by their "
        "names, in any order. Columns that the model was not trained on are ignored.",
    )
    add("model", type=Path, help="file that `iunet fit` wrote")
    add("data", type=Path, help="CSV, TSV or Parquet file")
    add("--out", type=Path, help="CSV to write (otherwise, or with -, it is printed)")
    add("--probabilities", action="store_true", help="add the probability of every class")

    add = command(
        run_export,
        "export results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8 --to shipped",
        help="write a model, or a run of the workflow, as files to ship",
        description="Write a model file, ONNX from raw columns to probabilities, and a report on "
        f"sizes and latency. Needs two more packages: {INSTALL_EXPORT}.",
    )
    add("source", type=Path, help="file that `iunet fit` wrote, or folder of a run of the workflow")
    add("--to", required=True, type=Path, help="folder to write")

    add = command(
        run_verify,
        "verify results/demo --configfile config/demo.yaml",
        help="list results of the workflow that do not match a config",
        description="Compare every artifact in a folder of results with what the config would "
        "make. Run it in the project's folder.",
    )
    add("folder", help="folder of results")
    several = {"nargs": "+", "default": [], "action": "extend"}
    add("--configfile", **several, metavar="FILE", help="overlays of the config")
    add("--config", **several, metavar="KEY=VALUE", help="changes of single keys")
    return top


# ---- the subcommands


def run_fit(arguments: argparse.Namespace) -> None:
    from iunet.data.own_table import check_own_table
    from iunet.data.table import RawTable, clean_table
    from iunet.deploy.model import check_path
    from iunet.estimator.classifier import IUNetClassifier
    from iunet.estimator.columns import listed
    from iunet.estimator.score import (
        FEWEST_ROWS,
        held_out_score,
        refuse_labels_without_score,
        score_text,
    )

    check_path(arguments.out)  # now, not after the training
    texts = [arguments.target, *arguments.categorical]
    frame, doubts = read_file(arguments.data, texts)
    for name in arguments.leave_out:
        if name not in frame.columns:
            raise UserError(
                f"{arguments.data} has no column '{name}' to leave out."
                f"{nearest(name, frame.columns)}"
            )
    frame = frame.drop(columns=arguments.leave_out)
    raw = RawTable(frame, arguments.target, tuple(arguments.categorical), warnings=doubts)
    with naming(arguments.data.name):
        raw = check_own_table(raw)
        clean = clean_table(raw)
    for doubt in clean.warnings:
        print_message(f"warning: {doubt}")
        warnings.filterwarnings("ignore", re.escape(doubt))  # the fit would give it again
    kinds = [column["kind"] for column in clean.columns]
    print_message(
        f"{len(raw.frame)} rows, {len(clean.classes)} classes; columns: "
        f"{kinds.count('numeric')} numeric, {kinds.count('categorical')} categorical"
    )
    model = IUNetClassifier(
        effort="quick" if arguments.quick else "paper",
        ratio=arguments.ratio,
        structure=arguments.structure,
        categorical_features=[n for n in raw.categorical if n != arguments.target] or None,
        class_weight="balanced" if arguments.balanced else None,
        random_state=arguments.seed,
        n_threads=arguments.threads,
        device=arguments.device,
        verbose=sys.stderr.isatty(),
    )
    X, y = raw.frame.drop(columns=arguments.target), raw.frame[arguments.target]
    valid = None
    if arguments.valid:
        valid = read_columns(arguments.valid, texts, [*X.columns, arguments.target])
        refuse_labels_without_score(y, valid[arguments.target], arguments.valid)
    score = "the model was not scored"
    if valid is None and not arguments.no_valid and len(y) >= FEWEST_ROWS:
        print_message("training on nine tenths of the rows, to score the other tenth")
        score = "on the held-out tenth: " + held_out_score(model, X, y, arguments.seed)
        print_message(score)
    print_message(f"training on all {len(y)} rows")
    model.fit(X, y)
    model.save(arguments.out)
    if valid is not None:
        score = f"on {arguments.valid}: " + score_text(model, valid[X.columns], valid[y.name])
    sizes = model.sizes_
    print_message(
        f"{arguments.out}: {sizes['kept_parameters']:,} of {sizes['parameters']:,} parameters "
        f"kept per network; networks in the ensemble: {sizes['members']}"
    )
    if len(model.unused_features_):
        print_message(f"columns that the network does not use: {listed(model.unused_features_)}")
    print_message(score)


def run_predict(arguments: argparse.Namespace) -> None:
    import pandas as pd

    from iunet.estimator.classifier import IUNetClassifier
    from iunet.estimator.columns import columns_by_place

    out = arguments.out
    for given in (arguments.model, arguments.data):
        if out and out.exists() and given.exists() and out.samefile(given):
            raise UserError(f"{out} is an input of the prediction. Name another --out.")
    model = IUNetClassifier.load(arguments.model).set_params(device="auto")
    categories = [column["name"] for column in model._model.preprocessing["categorical"]]
    if hasattr(model, "feature_names_in_"):
        frame = read_columns(arguments.data, categories, list(model.feature_names_in_))
    else:  # it was fitted on an array
        frame = read_file(arguments.data, categories)[0]
        frame = columns_by_place(frame, list(range(model.n_features_in_)), str(arguments.data))
    probabilities = model.predict_proba(frame)
    told = pd.DataFrame({"prediction": model.classes_[probabilities.argmax(axis=1)]})
    if arguments.probabilities:
        told[[f"probability of {label}" for label in model.classes_]] = probabilities
    write_output(out, told.to_csv(index=False))


def write_output(path: Path | None, text: str) -> None:
    """Print the text or replace a regular file with it; pipes and devices are written to."""
    if path is None or str(path) == "-":
        sys.stdout.write(text)
    elif path.exists() and not (path.is_file() or path.is_dir()):
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"{path} cannot be written to ({one_line(error)}).") from error
    else:
        write_text(os.path.realpath(path), text)  # a link stays one


def read_columns(path: Path, texts: Collection[str], names: list[str]) -> pd.DataFrame:
    """The columns with these names in a file; prints which others it has."""
    from iunet.estimator.columns import columns_by_name, listed

    frame = read_file(path, texts)[0]
    if extra := [name for name in frame.columns if name not in names]:
        print_message(f"ignoring columns of {path} that the model does not use: {listed(extra)}")
    return columns_by_name(frame, names, str(path))


def run_export(arguments: argparse.Namespace) -> None:
    from iunet.deploy.export import export_model
    from iunet.deploy.model import read_model
    from iunet.deploy.report import report_text
    from iunet.deploy.run import read_run

    source = arguments.source
    model = read_model(source) if source.is_file() else read_run(source)
    print(report_text(export_model(model, arguments.to)))


def run_verify(arguments: argparse.Namespace) -> None:
    from iunet.verify import verify

    problems = verify(arguments.folder, arguments.configfile, arguments.config)
    for problem in problems:
        print(problem)
    if problems:
        raise UserError(f"{len(problems)} files in {arguments.folder} do not match this config.")
    print(f"Every artifact in {arguments.folder} matches this config.")


def read_file(path: Path, texts: Collection[str] = ()) -> tuple[pd.DataFrame, list[str]]:
    """A table, in which columns in `texts` stay as written, and warnings."""
    from iunet.data.sources.file import read_table

    if not path.is_file():
        raise UserError(f"The file {path} does not exist.")
    return read_table(path, texts)


if __name__ == "__main__":
    sys.exit(main())
