"""The import of torchvision beside a CPU torch; each case in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_a_working_torchvision_is_imported_as_it_is(tmp_path):
    """Stands in for a CUDA build: no operator may be declared where the plain import works."""
    (tmp_path / "torchvision.py").write_text("working = True")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from iunet.machine import torchvision_cpu\n"
        "assert torchvision_cpu.import_torchvision().working\n"
        "assert not torchvision_cpu._declarations and 'torch' not in sys.modules"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_other_errors_of_the_import_are_not_hidden(tmp_path):
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('something else')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    result = run(code + "from iunet.machine.torchvision_cpu import import_torchvision as l; l()")
    assert "RuntimeError: something else" in result.stderr
