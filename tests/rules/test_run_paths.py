"""Paths may ask for any run that the config could have, and for each by one name."""

from __future__ import annotations

import pytest
from configs import benchmark, merged

from iunet.errors import UserError
from iunet.runs.targets import check_run

BENCH = benchmark(merged())


def check(path: str) -> None:
    """`wine/mlp_tab/kappa1-sup/seed0` or `…/ratio8`, as below results/runs/."""
    dataset, network, run, seed, *cut = path.split("/")
    kind = "dense" if run.startswith("dense") else "supernet"
    point = {"dataset": dataset, "network": network, kind: run, "seed": seed.removeprefix("seed")}
    check_run(BENCH, point | ({"cut": cut[0]} if cut else {}))


@pytest.mark.parametrize(
    "path",
    [
        "wine/mlp_tab/kappa1-sup/seed0",
        "wine/mlp_tab/kappa0.125-ilo/seed7/ratio4",
        "wine/mlp_tab-depth3-width64/kappa0.25-ilo-glorot-lambda0.5/seed0/ratio8-weight_decay0.1",
        "wine/mlp_tab/kappa0.25-ilo/seed0/units8",
        "wine/mlp_tab/kappa1-lasso0.00003/seed0/survivors",
        "wine/mlp_tab/kappa1-lasso0.00001-he_normal-beta20/seed0/survivors-lr0.01",
        "cifar10/mlp_vis-alpha4/kappa0.25-scl/seed0/ratio1.5",
        "cifar10/cnn/dense-he_normal-epochs50/seed2",
        "cifar10/resnet18-width0.5/dense/seed2",
    ],
)
def test_any_possible_run_may_be_asked_for(path):
    check(path)


@pytest.mark.parametrize(
    ("path", "fragment"),
    [
        ("wine/mlp_tab/kappa0.25-ilo/seed0/ratio0.5", "but 0.5 is less than the minimum of 1"),
        ("wine/mlp_tab/kappa0.25-ilo/seed0/ratio0", "is 0, but 0 is less than the minimum of 1"),
        ("wine/mlp_tab/kappa0-ilo/seed0", "is 0, but 0 is less than or equal to"),
        ("wine/mlp_tab/kappa1-sup-epochs0/seed0", "'train.supernet.epochs' is 0"),
        ("wine/mlp_tab/kappa1-sup-epochs2.5/seed0", "'train.supernet.epochs' is 2.5"),
        ("wine/mlp_tab/kappa1-sup-epoch3/seed0", "Did you mean 'epochs'?"),
        ("wine/mlp_tab/kappa1.2.3-sup/seed0", "'1.2.3' in a path is not a number"),
        ("wine/mlp_tab/kappa1-sup/seed0/ratio1.2.3", "'1.2.3' in a path is not a number"),
        ("wine/mlp_tab/kappa1-lasso0/seed0/survivors", "'beta_lasso.l1.0' is 0"),
        ("wine/mlp_tab/kappa2-lasso0.001/seed0/survivors", "use runs/wine/mlp_tab/kappa1"),
        ("wine/mlp_tab-width0/kappa1-sup/seed0", "'networks.mlp_tab.width' is 0"),
        ("wine/mlp_tab-alpha3/kappa1-sup/seed0", "unknown key 'methods.path.network.alpha'"),
        ("wine/mlp_vis/kappa1-sup/seed0", "mlp_vis is for vision data, but 'wine' is a tabular"),
        ("cifar10/mlp_tab/kappa1-sup/seed0", "mlp_tab is for tabular data, but 'cifar10' is a"),
        ("wine/mlp_tab/dense-cycles0/seed0", "'train.finetune_tabular.cycles' is 0"),
        ("wine/mlp_tab/kappa1-sup/seed007", "write seed7, without leading zeros"),
        ("wine/mlp_tab/kappa0.250-ilo/seed0", "runs/wine/mlp_tab/kappa0.25-ilo/seed0."),
        ("wine/mlp_tab/kappa1.0-ilo/seed0", "runs/wine/mlp_tab/kappa1-ilo/seed0."),
        ("wine/mlp_tab/kappa1-ilo-lambda1/seed0", "runs/wine/mlp_tab/kappa1-ilo/seed0."),
        ("wine/mlp_tab/kappa1-ilo-torch_default/seed0", "runs/wine/mlp_tab/kappa1-ilo/seed0."),
        ("wine/mlp_tab/kappa1-ilo-lr0.1-epochs3/seed0", "kappa1-ilo-epochs3-lr0.1/seed0."),
        ("wine/mlp_tab/kappa1-ilo/seed0/ratio08", "runs/wine/mlp_tab/kappa1-ilo/seed0/ratio8."),
        ("wine/mlp_tab-width512/dense/seed0", "runs/wine/mlp_tab/dense/seed0."),
    ],
)
def test_what_no_config_may_have_is_refused(path, fragment):
    with pytest.raises(UserError) as error:
        check(path)
    assert fragment in str(error.value)
    assert str(error.value).startswith(f"The path runs/{path}")
