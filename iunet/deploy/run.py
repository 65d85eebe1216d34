"""A finished run of the workflow as a model to ship.

model = read_run("results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8")
"""

from __future__ import annotations

from pathlib import Path

from iunet.artifacts import read_arrays, read_json, read_provenance
from iunet.deploy.model import PrunedModel
from iunet.errors import UserError
from iunet.method.masks import read_masks
from iunet.runs import paths
from iunet.runs.names import DenseName, SupernetName
from iunet.training.members import split_members


def read_run(folder: str | Path) -> PrunedModel:
    """The network in the folder of a subnetwork or a dense network."""
    folder = Path(folder).resolve()
    for template in (paths.SUBNETWORK_WEIGHTS, paths.DENSE_WEIGHTS):
        if (folder / Path(template).name).is_file():
            return _read(template, str(folder / Path(template).name))
    raise UserError(
        f"{folder} is not the folder of a fine-tuned or dense network: it has neither "
        f"{Path(paths.SUBNETWORK_WEIGHTS).name} nor {Path(paths.DENSE_WEIGHTS).name}. Name a "
        "folder like results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8. To make it, ask "
        "snakemake for its finetune.json."
    )


def _read(template: str, weights: str) -> PrunedModel:
    run = paths.pattern(template).search(weights)
    if run is None:
        raise UserError(
            f"{weights} is not in a folder of results. The path should be like "
            f"{template.replace(paths.ROOT, 'results')}."
        )
    values = run.groupdict()
    masked = "cut" in values
    name = SupernetName.parse(values["supernet"]) if masked else DenseName.parse(values["dense"])
    values["initial"] = name.initial
    files = ["PREPROCESSING", "SPLIT_REPORT", "INITIAL_REPORT"]
    files += ["MASK", "MASK_REPORT"] if masked else []
    root = weights[: run.start()]
    found = {name: paths.fill(getattr(paths, name), root, **values) for name in files}
    for path in (weights, *found.values()):
        _refuse_foreign(path, values)
    stored = read_arrays(weights)
    if not stored:
        raise UserError(f"{weights} has no weights: the run failed. The JSON next to it says why.")
    return PrunedModel(
        preprocessing=read_json(found["PREPROCESSING"]),
        network=read_json(found["INITIAL_REPORT"])["network"],
        members=split_members(stored),
        masks=read_masks(found["MASK"], found["MASK_REPORT"]) if masked else {},
        classes=[entry["name"] for entry in read_json(found["SPLIT_REPORT"])["classes"]],
        origin={key: value for key, value in sorted(values.items()) if value},
    )


def _refuse_foreign(path: str, values: dict[str, str]) -> None:
    """Refuse a file copied from another run: it would fit, and predict nonsense."""
    provenance = read_provenance(path) or {}
    for key, value in provenance.get("wildcards", {}).items():
        if values.get(key, value) != value:
            raise UserError(
                f"{path} belongs to a different run: {key} is '{value}', not '{values[key]}'. "
                "Delete it and run the workflow again to make it anew."
            )
