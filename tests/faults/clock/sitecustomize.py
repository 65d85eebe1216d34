"""Imported by every Python under a moved clock, from PYTHONPATH.

libfaketime (0.9.10) spoils the absolute time that `time.sleep` of Python 3.11 and later hands to
clock_nanosleep, and it fails with "Invalid argument". A moved clock does no such thing.
"""

import select
import time


def sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = sleep
