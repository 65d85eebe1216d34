"""Errors of the workflow's functions, in the words of the classifier."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from iunet.errors import DataError, UserError

ROWS = "X"  # the workflow's functions are told it as the data set's name


@contextlib.contextmanager
def of_the_classifier() -> Iterator[None]:
    """Inside, a `UserError` is a `DataError`; of data sets and splits a program knows nothing."""
    try:
        yield
    except UserError as error:
        text = str(error).removeprefix(f"Data set '{ROWS}': ").replace("the train split", "the fit")
        raise DataError(text[:1].upper() + text[1:]) from error
