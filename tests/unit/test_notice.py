"""The banner of a small config says what was scaled down, and from what."""

from __future__ import annotations

from pathlib import Path

import yaml
from snakemake.utils import update_config

from iunet.page.notice import COUNTED, SCALED, notice, value

ROOT = Path(__file__).resolve().parents[2]


def config(*overlays: str) -> dict:
    made = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    for name in overlays:
        update_config(made, yaml.safe_load((ROOT / "config" / name).read_text()))
    return made


def test_the_paper_has_no_banner():
    assert notice(config(), config()) is None


def test_the_demos_banner_names_every_size_that_differs():
    demo, paper = config("demo.yaml"), config()
    text = notice(demo, paper)
    assert "photo_digits_low for CIFAR10" in text and "2 seeds (3)" in text
    for name, key in SCALED.items():
        ours, theirs = value(demo, key), value(paper, key)
        assert (f"{name} {ours} ({theirs})" in text) == (ours != theirs)
    for name, key in COUNTED.items():
        ours, theirs = len(value(demo, key)), len(value(paper, key))
        assert (f"{ours} {name} ({theirs})" in text) == (ours != theirs)
    assert "8 trials of XGB (40 trials per hyperparameter)" in text


def test_what_is_the_papers_is_not_named():
    nearly = config() | {"stand_ins": {"cifar10": "photo_digits"}, "seeds": [0]}
    text = notice(nearly, config())
    assert "1 seeds (3)." in text and "epochs" not in text
