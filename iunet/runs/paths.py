"""The path of every artifact, once. `<results>` is the config's root, braces are wildcards."""

from __future__ import annotations

ROOT = "<results>"

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


def fill(path: str, root: str, **values: object) -> str:
    """A path with its wildcards filled in, below the config's root of results."""
    return path.replace(ROOT, root).format(**values)


def log(folder: str, name: str) -> str:
    """The log of a job whose outputs lie in a folder of `<results>`."""
    return f"{folder.replace(ROOT, '<logs>')}/{name}.log"


def benchmark(folder: str, name: str) -> str:
    return f"{folder.replace(ROOT, '<benchmarks>')}/{name}.tsv"
