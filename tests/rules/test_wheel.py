"""The wheel: installed beside other people's packages, it brings the classifier and one command."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from without import without

from iunet import IUNetClassifier
from iunet.deploy import INSTALL_EXPORT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW = [Requirement(r).name for r in PROJECT["optional-dependencies"]["workflow"]]
OF_THE_BASE = {"scipy", "jinja2"}  # scikit-learn and torch ask for them
EXTRAS = {"PIL", "scikit_posthocs", "yaml", "pytorch_tabnet", "onnx", "onnxruntime", "numba"}
HIDDEN = {*WORKFLOW, *EXTRAS} - OF_THE_BASE
SMALL = {"width": 8, "depth": 2, "supernet_epochs": 1, "first_cycle_epochs": 1, "ratio": 2}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Unpacked; built from a copy, since building leaves files behind."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "iunet", source / "iunet", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", str(source)]
    subprocess.run([sys.executable, *command, "-w", str(folder)], check=True, cwd=folder)
    (built,) = folder.glob("*.whl")
    zipfile.ZipFile(built).extractall(folder / "installed")
    return folder / "installed"


def test_it_has_one_command_and_it_is_not_snakemake(wheel):
    (told,) = wheel.glob("*.dist-info/entry_points.txt")
    assert told.read_text().split("\n", 1)[1].strip() == "iunet = iunet.estimator.command:main"
    assert not list(wheel.glob("*.data"))


def test_its_base_asks_for_nothing_of_the_workflow(wheel):
    (told,) = wheel.glob("*.dist-info/METADATA")
    asked = re.findall(r"^Requires-Dist: (.*)$", told.read_text(), flags=re.MULTILINE)
    base = {Requirement(r).name for r in asked if "extra ==" not in r}
    assert base == {Requirement(r).name for r in PROJECT["dependencies"]}
    assert not base & {*WORKFLOW, "onnx", "onnxruntime", "numba"}


def test_it_fits_and_loads_where_only_the_base_is_installed(wheel, tmp_path):
    """Everything else is hidden; a model that was saved here predicts the same bits there."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    np.savetxt(tmp_path / "new.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    model = IUNetClassifier(**SMALL, random_state=0).fit(X, X[:, 0] > 0)
    model.save(tmp_path / "model")
    code = without(*HIDDEN) + (
        "import iunet, numpy as np\n"
        "assert iunet.__file__.startswith(sys.argv[1]) and 'torch' not in sys.modules\n"
        "from iunet.estimator.command import main\n"
        "X = np.loadtxt('new.csv', delimiter=',', skiprows=1)\n"
        "fitted = iunet.IUNetClassifier.load('model')\n"
        "np.save('told.npy', fitted.predict_proba(X))\n"
        "again = iunet.IUNetClassifier(**fitted.get_params()).fit(X, X[:, 0] > 0)\n"
        "np.save('again.npy', again.predict_proba(X))\n"
        "assert main(['predict', 'model', 'new.csv', '--out', 'told.csv']) == 0\n"
        "assert main(['export', 'model', '--to', 'shipped']) == 2\n"
    )
    command = [sys.executable, "-c", code, str(wheel)]
    environment = {"PYTHONPATH": str(wheel), "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    for name in ("told", "again"):
        assert np.array_equal(np.load(tmp_path / f"{name}.npy"), model.predict_proba(X))
    wanted = PROJECT["optional-dependencies"]["export"]
    assert f"onnx, which is not installed: {INSTALL_EXPORT}." in result.stderr
    assert "pip install " + " ".join(f"'{package}'" for package in wanted) == INSTALL_EXPORT
    told = (tmp_path / "told.csv").read_text().split()
    assert told == ["prediction", *map(str, model.predict(X))]
