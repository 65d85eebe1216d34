"""The path of every artifact, once. `<results>` is the config's root, braces are wildcards."""

from __future__ import annotations

import functools
import re

from iunet.runs import names
from iunet.runs.names import CutName, DenseName, SupernetName

ROOT = "<results>"
NO_RETRY = "logs/no_retry.txt"  # below the results: why no attempt of a job could succeed

# data
DATA = f"{ROOT}/data/{{dataset}}"
DATA_TABLE = f"{DATA}/data.parquet"
DATA_IMAGES = f"{DATA}/images.safetensors"
DATA_REPORT = f"{DATA}/data.json"

# splits
SPLIT = f"{ROOT}/splits/{{dataset}}"
TRAIN, VALID, TEST = (f"{SPLIT}/{part}.safetensors" for part in ("train", "valid", "test"))
INDICES = f"{SPLIT}/indices.safetensors"
PREPROCESSING = f"{SPLIT}/preprocessing.json"
SPLIT_REPORT = f"{SPLIT}/split.json"

# runs: initial weights, a supernet, a cut of it (a mask), a subnetwork (it, fine-tuned), dense
NETWORK = f"{ROOT}/runs/{{dataset}}/{{network}}"
INITIAL = f"{NETWORK}/{{initial}}/seed{{seed}}"
INITIAL_WEIGHTS = f"{INITIAL}/weights.safetensors"
INITIAL_REPORT = f"{INITIAL}/initial.json"
SUPERNET = f"{NETWORK}/{{supernet}}/seed{{seed}}"
SUPERNET_WEIGHTS = f"{SUPERNET}/supernet.safetensors"
SUPERNET_HISTOGRAMS = f"{SUPERNET}/histograms.safetensors"
SUPERNET_REPORT = f"{SUPERNET}/supernet.json"
SUPERNET_DECODER = f"{SUPERNET}/decoder.safetensors"
SUPERNET_DECODER_REPORT = f"{SUPERNET}/decoder.json"
SUPERNET_EVALUATION = f"{SUPERNET}/evaluation.json"
CUT = f"{SUPERNET}/{{cut}}"
MASK = f"{CUT}/mask.safetensors"
MASK_REPORT = f"{CUT}/mask.json"
SUBNETWORK = f"{SUPERNET}/{{cut}}{{options}}"
SUBNETWORK_WEIGHTS = f"{SUBNETWORK}/subnetwork.safetensors"
SUBNETWORK_PREDICTIONS = f"{SUBNETWORK}/valid_predictions.safetensors"
SUBNETWORK_REPORT = f"{SUBNETWORK}/finetune.json"
SUBNETWORK_EVALUATION = f"{SUBNETWORK}/evaluation.json"
DENSE = f"{NETWORK}/{{dense}}/seed{{seed}}"
DENSE_WEIGHTS = f"{DENSE}/network.safetensors"
DENSE_PREDICTIONS = f"{DENSE}/valid_predictions.safetensors"
DENSE_REPORT = f"{DENSE}/finetune.json"
DENSE_EVALUATION = f"{DENSE}/evaluation.json"
CHOICE = f"{NETWORK}/choice-{{method}}.json"
LATENCY = f"{NETWORK}/latency-{{method}}.json"

# tuned learners
LEARNER = f"{ROOT}/runs/{{dataset}}/{{learner}}"
STUDY = f"{LEARNER}/{{study}}"
STUDY_WORKER = f"{STUDY}/worker{{worker}}.json"
STUDY_REPORT = f"{STUDY}/study.json"
STUDY_TRIALS = f"{STUDY}/trials.csv"
TUNED = f"{LEARNER}/seed{{seed}}"
TUNED_MODEL = f"{TUNED}/model.safetensors"
TUNED_REPORT = f"{TUNED}/refit.json"
TUNED_EVALUATION = f"{TUNED}/evaluation.json"

# every run as a row, tables, figures, the page
ROWS = f"{ROOT}/runs.csv"
TABLE = f"{ROOT}/tables/{{table}}"
TABLE_DOCUMENT = f"{TABLE}.json"
FIGURE = f"{ROOT}/figures/{{figure}}"
FIGURE_REPORT = f"{FIGURE}.json"
PAGE = f"{ROOT}/report/index.html"

# What each rule makes, so that the job behind a file follows from its path. Tables and images are
# downloaded and split by rules of their own (KIND_NAMES).
KIND_NAMES = {"tabular": "table", "vision": "images"}
OUTPUTS: dict[str, tuple[str, ...]] = {
    "download": (DATA_TABLE, DATA_IMAGES, DATA_REPORT),
    "split": (TRAIN, VALID, TEST, INDICES, PREPROCESSING, SPLIT_REPORT),
    "initialise": (INITIAL_WEIGHTS, INITIAL_REPORT),
    "supernet": (SUPERNET_WEIGHTS, SUPERNET_HISTOGRAMS, SUPERNET_REPORT),
    "prune": (MASK, MASK_REPORT),
    "finetune": (SUBNETWORK_WEIGHTS, SUBNETWORK_PREDICTIONS, SUBNETWORK_REPORT),
    "train_dense": (DENSE_WEIGHTS, DENSE_PREDICTIONS, DENSE_REPORT),
    "decoder": (SUPERNET_DECODER, SUPERNET_DECODER_REPORT),
    "tune": (STUDY_WORKER,),
    "study": (STUDY_REPORT, STUDY_TRIALS),
    "refit": (TUNED_MODEL, TUNED_REPORT),
    "evaluate": (SUBNETWORK_EVALUATION,),
    "evaluate_supernet": (SUPERNET_EVALUATION,),
    "evaluate_dense": (DENSE_EVALUATION,),
    "evaluate_tuned": (TUNED_EVALUATION,),
    "choose": (CHOICE,),
    "latency": (LATENCY,),
    "table": tuple(f"{TABLE}.{form}" for form in ("csv", "md", "tex", "html", "json")),
    "figure": tuple(f"{FIGURE}.{form}" for form in ("png", "pdf", "csv", "json")),
    "rows": (ROWS,),
    "page": (PAGE,),
}
FOLDERS = {  # and files, right below the root
    form.split("/")[1] for forms in OUTPUTS.values() for form in forms
}
_FORMS = {  # of the wildcards; any other is one part of a path
    "initial": names.INITIAL + names.INIT_PATTERN,
    "supernet": SupernetName.PARTS,
    "dense": DenseName.PARTS,
    "cut": CutName.PARTS,
    "options": names.OPTIONS,  # of the fine-tuning
    "study": r"tuning(?:-seed[0-9]+)?",
    "seed": r"[0-9]+",
    "worker": r"[0-9]+",
    "figure": r".+",  # some are in a folder of their own
}
# Without names of groups, since a wildcard is a group itself.
PATTERNS = {wildcard: re.sub(r"\?P<\w+>", "?:", form) for wildcard, form in _FORMS.items()}


def rule_of(path: str) -> tuple[str, dict[str, str]] | None:
    """The rule of OUTPUTS that makes a file in any folder of results, and its wildcards."""
    forms = _patterns()
    for rule, pattern in (*forms.get(path.rpartition("/")[2], ()), *forms[""]):
        if found := pattern.search(path):
            return rule, found.groupdict()
    return None


@functools.cache
def _patterns() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """Rules and patterns by the file's name; those with wildcards in it under ''."""
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = {"": []}
    for rule, template in ((rule, form) for rule, forms in OUTPUTS.items() for form in forms):
        name = template.rpartition("/")[2]
        found.setdefault("" if "{" in name else name, []).append((rule, pattern(template)))
    return found


def pattern(template: str) -> re.Pattern[str]:
    """A path of this form below any folder of results."""
    text = re.escape(template.removeprefix(f"{ROOT}/")).replace(r"\{", "{").replace(r"\}", "}")
    for name in re.findall(r"{(\w+)}", text):
        text = text.replace(f"{{{name}}}", f"(?P<{name}>{PATTERNS.get(name, '[^/]+')})")
    return re.compile(rf"(?:^|/){text}$")


def fill(path: str, root: str, **values: object) -> str:
    """A path with its wildcards filled in, below the config's root of results."""
    return path.replace(ROOT, root).format(**values)


def log(folder: str, name: str) -> str:
    """The log of a job with outputs in this folder of `<results>`."""
    return f"{folder.replace(ROOT, '<logs>')}/{name}.log"


def benchmark(folder: str, name: str) -> str:
    return f"{folder.replace(ROOT, '<benchmarks>')}/{name}.tsv"
