# Two commands matter: `make demo` and `make test`. Both set up .venv first, once.
# PYTHON=python3.12 chooses another interpreter, CORES=8 the number of cores for the workflow and the tests.

PYTHON ?= python3
CORES  ?= $(or $(SLURM_CPUS_ON_NODE),$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN))
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Errors only: pip repeats its warnings for every package.
PIP    := $(BIN)/python -m pip -qq --disable-pip-version-check

.PHONY: help setup demo test mutants faults checks lint format cost study publish dag docs lock clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## /  make \1	/'

setup: $(READY)  ## create .venv and install the pinned dependencies

# Installs again only when a pin changes. The stamp is written last, so the next call continues an interrupted
# installation. XGBoost is installed without its requirements: its NCCL, which only several GPUs need, would
# overwrite torch's library of the same name.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"iunet-bench needs Python 3.11 or newer, but $(PYTHON) is {v[0]}.{v[1]}: call make PYTHON=python3.12")'
	@echo "==> creating $(VENV) and installing the pinned dependencies (once; a few minutes, about 6 GB with CUDA; or 2.4 GB without it, see README.md)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Could not create a virtual environment with '$(PYTHON) -m venv'. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@grep -v '^xgboost==' requirements.lock > $(VENV)/most.txt && $(PIP) install -r $(VENV)/most.txt
	@grep '^xgboost==' requirements.lock > $(VENV)/xgboost.txt && $(PIP) install --no-deps -r $(VENV)/xgboost.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@rm -f $(BIN)/snakemake && printf '#!%s\n# Made by `make setup`: iunet/cli.py says what for.\nfrom iunet.cli import main\n\nmain()\n' "$(abspath $(BIN)/python)" > $(BIN)/snakemake && chmod +x $(BIN)/snakemake
	@touch $@

demo: $(READY)  ## run the workflow on two small built-in data sets, into results/demo/
	@echo "==> running the workflow with config/demo.yaml on $(CORES) cores"
	@$(BIN)/snakemake --cores $(CORES) --configfile config/demo.yaml
	@$(BIN)/python -m iunet.machine.job_times results/demo
	@echo "==> done: open results/demo/report/index.html (tables in results/demo/tables/, figures in results/demo/figures/)"

test: $(READY)  ## run all tests
	@echo "==> running the tests on $(CORES) cores"
	@$(BIN)/python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder

mutants: $(READY)  ## check that tests catch wrong lines of science (ARGS="--ci" for a dozen)
	@$(BIN)/python tests/mutants.py $(ARGS)

faults: $(READY)  ## check recovery from 100 random faults, about 20 minutes (Linux; ARGS="--faults 10" for a short run)
	@$(BIN)/python tests/faults $(ARGS)

checks: $(READY)  ## run scikit-learn's checks of the classifier with its default settings, 5 minutes
	@$(BIN)/python tests/helpers/estimator_checks.py

lint: $(READY)  ## check style and workflow: ruff, snakefmt, snakemake --lint
	@echo "==> ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "==> snakefmt"
	@$(BIN)/snakefmt --check Snakefile workflow
	@echo "==> snakemake --lint"
	@$(BIN)/snakemake --lint

format: $(READY)  ## rewrite the code in the house style
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .
	@$(BIN)/snakefmt Snakefile workflow

cost: $(READY)  ## estimate jobs and hours per table (ARGS="--configfile my.yaml --device cuda")
	@$(BIN)/python -m iunet.cost $(ARGS)

study: $(READY)  ## run or continue the CPU-scale study on real data, hours (MIRROR=folder of data sets; docs/study.md)
	@$(BIN)/python -m iunet.study run $(if $(MIRROR),--mirror $(MIRROR)) --cores $(CORES)

publish: $(READY)  ## write what the study has finished to reports/cpu-study/ (MIRROR as above)
	@$(BIN)/python -m iunet.study publish $(if $(MIRROR),--mirror $(MIRROR)) --cores $(CORES)

dag: $(READY)  ## redraw docs/dag.svg from the workflow (needs graphviz)
	@$(BIN)/snakemake --configfile config/demo.yaml --forceall --rulegraph dot 2>/dev/null | dot -Tsvg > docs/dag.svg

docs: $(READY)  ## write config/README.md and the decisions in docs/method.md
	@$(BIN)/python -m iunet.page.docs

lock:  ## resolve pyproject.toml in a new environment and rewrite requirements.lock
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip install --quiet --disable-pip-version-check '.[workflow,export,fast,dev]' setuptools
	@{ head -2 requirements.lock; build/lock/bin/python -m pip freeze --all --exclude iunet-bench --exclude pip \
	  | sed -e 's/+cpu$$//' -e '/^nvidia-/d' | sort -f; } > build/requirements.lock
	@mv build/requirements.lock requirements.lock && rm -rf build

clean:  ## remove .venv and the demo's results
	rm -rf $(VENV) results/demo
