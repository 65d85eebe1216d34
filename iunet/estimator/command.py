"""The command `iunet`: fit, predict and export without writing a program.

Exit codes: 0, 1 for a bug (with its traceback), 2 for what the user can put right.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import math
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet import __version__
from iunet.artifacts import write_text
from iunet.errors import UserError, nearest, one_line

if TYPE_CHECKING:
    import pandas as pd

    from iunet.estimator.classifier import IUNetClassifier

SHOWN = 10  # names in a message


def main(arguments: list[str] | None = None) -> int:
    """Run one of the subcommands; the exit code."""
    parsed = parser().parse_args(arguments)
    try:
        with warnings.catch_warnings(), said_logs():
            warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
            parsed.run(parsed)
    except UserError as error:
        say(str(error))
        return 2
    except OSError as error:
        if error.filename is None:
            raise
        say(f"{error.filename} cannot be read or written ({one_line(error)}).")
        return 2
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    return 0


def say(text: str) -> None:
    print(f"iunet: {text}", file=sys.stderr)


@contextlib.contextmanager
def said_logs() -> Iterator[None]:
    """Inside, what the checks of a file log as a warning is said as such."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: say(f"warning: {record.getMessage()}")
    # What a column is taken as is said by the fit, too.
    handler.addFilter(lambda record: record.name != "iunet.data.table")
    log = logging.getLogger("iunet")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


# ---- the arguments


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="iunet",
        description="Small, invariance-preserving networks for your own table (IUNET).",
        epilog="`iunet fit --help` and so on say more. In Python: iunet.IUNetClassifier.",
    )
    top.add_argument("--version", action="version", version=f"iunet {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_predict(commands)
    _add_export(commands)
    return top


def _add_fit(commands) -> None:
    fit = commands.add_parser(
        "fit",
        help="train a pruned network on a table",
        description="Train on all rows of a CSV, TSV or Parquet file and save the model. The "
        "settings are the paper's; columns of text are categories, all others numbers.",
        epilog="Example: iunet fit customers.csv --target label --categorical zip_code --out model",
    )
    fit.add_argument("data", type=Path, help="CSV, TSV or Parquet file with a header")
    fit.add_argument("--target", required=True, help="the column to predict")
    fit.add_argument("--out", required=True, type=Path, help="file of the model")
    fit.add_argument(
        "--categorical",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns of numbers that are categories",
    )
    fit.add_argument(
        "--leave-out", nargs="+", default=[], metavar="COLUMN", help="columns not to use, as an id"
    )
    _add_option(fit, "--ratio", 8, "1 of so many weights is kept", type=float)
    pruned = "prune single weights, or whole units"
    _add_option(fit, "--structure", "weight", pruned, choices=("weight", "unit"))
    fit.add_argument(
        "--balanced", action="store_true", help="weigh every class alike, however rare it is"
    )
    _add_option(fit, "--seed", 0, "of everything random", type=whole(0, 2**64 - 1))
    _add_option(fit, "--threads", 1, "of torch on a CPU", type=whole(1))
    _add_option(fit, "--device", "auto", "to train on", choices=("auto", "cpu", "cuda"))
    fit.set_defaults(run=run_fit)


def whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """Reads a whole number of an option, which is refused by the option's name."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,20}", text) or not least <= int(text) <= most:
            allowed = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number {allowed}")
        return int(text)

    return read


def _add_option(to: argparse.ArgumentParser, name: str, default: Any, text: str, **how) -> None:
    to.add_argument(name, default=default, help=f"{text} (default: {default})", **how)


def _add_predict(commands) -> None:
    predict = commands.add_parser(
        "predict",
        help="predict the rows of a file with a saved model",
        description="Write a CSV with the predicted label of every row. Columns are found by their "
        "names, whatever their order; those that the model does not know are ignored.",
        epilog="Example: iunet predict model new.csv --out predictions.csv",
    )
    predict.add_argument("model", type=Path, help="file that `iunet fit` wrote")
    predict.add_argument("data", type=Path, help="CSV, TSV or Parquet file")
    predict.add_argument("--out", type=Path, help="CSV to write (otherwise it is printed)")
    predict.add_argument(
        "--probabilities", action="store_true", help="add the probability of every class"
    )
    predict.set_defaults(run=run_predict)


def _add_export(commands) -> None:
    export = commands.add_parser(
        "export",
        help="write a model, or a run of the workflow, as files to ship",
        description="Write a model file, ONNX from raw columns to probabilities, and a report on "
        "sizes and latency. Needs the extra `export`: pip install 'iunet-bench[export]'.",
        epilog="Example: iunet export results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8 "
        "--to shipped",
    )
    export.add_argument(
        "source", type=Path, help="file that `iunet fit` wrote, or folder of a run of the workflow"
    )
    export.add_argument("--to", required=True, type=Path, help="folder to write")
    export.set_defaults(run=run_export)


# ---- what they do


def run_fit(arguments: argparse.Namespace) -> None:
    from iunet.data.own_table import check_own_table
    from iunet.data.table import RawTable, clean_table
    from iunet.estimator.classifier import IUNetClassifier
    from iunet.estimator.persistence import check_path

    check_path(arguments.out)  # now, not after the training
    frame = read_file(arguments.data)
    for name in arguments.leave_out:
        if name not in frame.columns:
            raise UserError(
                f"{arguments.data} has no column '{name}' to leave out."
                f"{nearest(name, frame.columns)}"
            )
    frame = frame.drop(columns=arguments.leave_out)
    raw = RawTable(frame, arguments.target, tuple(arguments.categorical))
    raw = check_own_table(arguments.data.name, raw)
    clean = clean_table(arguments.data.name, raw)
    labels = raw.frame[arguments.target]
    kinds = [column["kind"] for column in clean.columns]
    say(
        f"{len(raw.frame)} rows, {kinds.count('numeric')} columns of numbers, "
        f"{kinds.count('categorical')} of categories, {len(clean.classes)} classes"
    )
    model = IUNetClassifier(
        ratio=arguments.ratio,
        structure=arguments.structure,
        categorical_features=arguments.categorical or None,
        class_weight="balanced" if arguments.balanced else None,
        random_state=arguments.seed,
        n_threads=arguments.threads,
        device=arguments.device,
        verbose=sys.stderr.isatty(),
    )
    model.fit(raw.frame.drop(columns=arguments.target), labels)
    model.save(arguments.out)
    sizes = model.sizes_
    say(
        f"{arguments.out}: {sizes['kept_parameters']:,} of {sizes['parameters']:,} parameters, "
        f"{sizes['members']} members"
    )
    if len(model.unused_features_):
        say(f"the network does not use: {some(model.unused_features_)}")


def run_predict(arguments: argparse.Namespace) -> None:
    from iunet.estimator.classifier import IUNetClassifier

    model = IUNetClassifier.load(arguments.model).set_params(device="auto")
    frame = columns_of(model, read_file(arguments.data, categories_of(model)), arguments.data)
    probabilities = model.predict_proba(frame)
    result = {"prediction": model.classes_[probabilities.argmax(axis=1)]}
    if arguments.probabilities:
        for i, label in enumerate(model.classes_):
            result[f"probability of {label}"] = probabilities[:, i]
    import pandas as pd

    text = pd.DataFrame(result).to_csv(index=False)
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.out, text)


def columns_of(model: IUNetClassifier, frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The columns that a model was fitted on, in their order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and frame.shape[1] != model.n_features_in_:
        raise UserError(
            f"{path} has {frame.shape[1]} columns, but the model was fitted on an array of "
            f"{model.n_features_in_}, which it knows by their places."
        )
    if names is None:
        return frame.set_axis(range(frame.shape[1]), axis="columns")  # it knows places only
    if missing := [name for name in names if name not in frame.columns]:
        raise UserError(
            f"{path} lacks {len(missing)} of the {len(names)} columns that the model was fitted "
            f"on: {some(missing)}.{nearest(missing[0], frame.columns)}"
        )
    if extra := [name for name in frame.columns if name not in names]:
        say(f"{path}: ignored, since the model does not know them: {some(extra)}")
    return frame[list(names)]


def run_export(arguments: argparse.Namespace) -> None:
    from iunet.deploy.model import read_model, read_run

    source = arguments.source
    model = read_model(source)[0] if source.is_file() else read_run(source)
    try:
        from iunet.deploy.export import export_model
        from iunet.deploy.report import report_text
    except ImportError as error:
        raise UserError(
            f"Export needs the package '{error.name}': pip install 'iunet-bench[export]'."
        ) from error
    print(report_text(export_model(model, arguments.to)))


def categories_of(model: IUNetClassifier) -> list[str]:
    return [column["name"] for column in model._model.preprocessing["categorical"]]


def read_file(path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
    """A table; columns in `texts` as they are written, whatever their values look like."""
    from iunet.data.sources.file import read_table

    if not path.is_file():
        raise UserError(f"There is no file {path}.")
    return read_table(path.name, path, texts)


def some(names) -> str:
    listed = ", ".join(map(str, names[:SHOWN]))
    return listed if len(names) <= SHOWN else f"{listed} and {len(names) - SHOWN} more"


if __name__ == "__main__":
    sys.exit(main())
