"""The error that is written for a person, and help with its text."""

import contextlib
import re
from collections.abc import Iterator

# In the environment of jobs: the terminal shows the end of a failed job's log.
SHOWS_FAILURES = "IUNET_TERMINAL_SHOWS_FAILURES"


class UserError(Exception):
    """Something that the user can correct.

    The message is one paragraph: what is wrong, where (file, key or value), and what to do. Scripts
    print it without a traceback; every other exception is a bug and keeps its traceback.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class SetupError(UserError):
    """An error of the config or the installation, which every attempt of a job would meet."""


class DataError(UserError, ValueError):
    """A `UserError` about data that a program passed: a `ValueError`, as in other libraries."""


@contextlib.contextmanager
def naming(what: str) -> Iterator[None]:
    """Inside, the message of a `UserError` begins with what it is about."""
    try:
        yield
    except UserError as error:
        raise type(error)(f"{what}: {error}") from error


def printable(text: str) -> str:
    """Text for a terminal or log: hidden characters, as in column names, become escapes."""
    text = re.sub(r"(\S{400})\S{800,}", r"\1…", text)  # a value may be as long as a book
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def one_line(error: BaseException, limit: int = 300) -> str:
    """The text of a library's exception on one line, for use inside a `UserError`."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nearest(word: str, known) -> str:
    """' Did you mean …?' if one of the known words is close, else nothing."""
    import difflib

    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""
