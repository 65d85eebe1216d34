"""Code for a process in which some packages cannot be imported, as if they were not installed."""

from __future__ import annotations

HIDDEN = """
import sys
class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, *where):
        return None if name.split(".")[0] in {names} else self.finder.find_spec(name, *where)
sys.meta_path[:] = map(Hiding, sys.meta_path)
"""


def without(*names: str) -> str:
    return HIDDEN.format(names=names)
