"""The banner of a small config says what was scaled down, and from what."""

from __future__ import annotations

import pytest
from configs import merged

from iunet.page.facts import LEARNING_RATE, heading, notice
from iunet.results.scale import PAPER_SCALE, config_value, scaled_down
from iunet.runs.overlays import merged_config


def test_the_papers_config_is_not_scaled_down_and_has_no_banner():
    config = merged()
    assert scaled_down(config) == {} and notice(config) == []
    for scale in PAPER_SCALE.values():
        for key, (_, papers) in scale.items():
            value = config_value(config, key)
            assert (len(value) if isinstance(value, list) else value) == papers
    assert config_value(config, LEARNING_RATE[0]) == LEARNING_RATE[1]


def test_what_is_smaller_stands_by_its_kind():
    config = merged()
    config["networks"]["mlp_vis"]["alpha"] = 4
    config["networks"]["mlp_tab"]["width"] = 1024
    config["tuning"]["mlp_c"]["trials"] = 10
    config["tuning"]["xgb"]["minutes"] = 30
    assert scaled_down(config) == {
        "vision": ["α of MLP_VIS 4 (8)"],
        "tuning": ["XGB at most 30 minutes", "MLP_TAB+C trials 10 (840)"],
    }


def test_the_demos_banner_names_every_size_that_is_smaller():
    text = " ".join(notice(merged("demo")))
    assert "photo_digits_low for CIFAR10" in text and "seeds 2 (3)" in text
    assert "XGB trials 8 (600)" in text and text.count("epochs of supernets") == 1
    assert "learning rate of supernets" in text


def test_what_is_the_papers_is_not_named():
    text = " ".join(notice(merged() | {"stand_ins": {"cifar10": "photo_digits"}, "seeds": [0]}))
    assert "seeds 1 (3)." in text and "epochs" not in text


@pytest.mark.parametrize("name", ["cpu-study", "demo", "weekend"])
def test_a_smaller_run_is_not_headed_as_the_papers(name):
    title, lead = heading(merged(name))
    assert title == "IUNET, scaled down" and "not a reproduction" in lead
    assert heading(merged())[0] == "IUNET, regenerated"
    assert "α of MLP_VIS 1 (8)" in notice(merged("cpu-study"))[1]


def test_the_page_of_an_own_table_says_what_its_budgets_are():
    config = merged_config([], ["own=my.csv", "target=label"])
    assert heading(config)[0] == "Which method is best on my.csv?"
    text = " ".join(notice(config))
    assert "XGB at most 30 minutes" in text and "tables" not in text and "image sets" not in text
