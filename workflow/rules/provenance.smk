# Why a job is repeated, and how its reader knows whose an artifact is (iunet/provenance.py).
#
# A job's parameters hold the versions of its own code, its settings, and as `upstream` a digest of
# all jobs before it: of their settings, versions and own `upstream`. Without it a change whose job
# fails once would pass unnoticed at the next start, since Snakemake makes a missing intermediate
# file only for a job that has another reason to run. `identity`, which Snakemake does not compare,
# says the same without versions of code: it is written into the job's artifacts, and the jobs that
# read them know which one to expect. docs/reruns.md is the user's side of it.

from types import SimpleNamespace

from snakemake.exceptions import MissingInputException, MissingRuleException
from snakemake.iocontainers import Wildcards
from snakemake.output_index import OutputIndex

from iunet.artifacts import read_provenance, sha256
from iunet.provenance import digest, identity, refuse_foreign


def code(rule, module=None):
    """Parameters of a rule: the versions of the modules that its script imports.

    `module` is a function of the wildcards that names one more, which the script imports by name.
    """
    own = script_code(PROJECT / "workflow" / "scripts" / f"{rule}.py")

    def more(wildcards):
        return ", ".join(line for line in code_lines(module(wildcards)) if line not in own)

    return [*own, more] if module else own


def provenance(rule):
    """The parameters by which a rule's jobs know what they are made from, and who they are."""
    return {
        "upstream": lambda wildcards: job_of(rule, wildcards).upstream,
        "identity": lambda wildcards, input: {
            "own": job_of(rule, wildcards).identity,
            "inputs": {str(path): made.identity for path in input if (made := maker(str(path)))},
        },
    }


JOBS = {}
VERSIONED = {"study"}  # its name says which code its trials are of, which an identity leaves out


def job_of(rule, wildcards):
    """Of a job, made once: its identity, and digests of all before it and of all with it."""
    key = (rule, *sorted(wildcards.items()))
    if key not in JOBS:
        JOBS[key] = describe_job(rules._rules[rule].rule, rule, dict(wildcards.items()))
    return JOBS[key]


def describe_job(rule, name, wildcards):
    makers = {path: maker(path) for path in input_paths(rule, wildcards)}
    states = [made.state if made else file_state(path) for path, made in makers.items()]
    ids = [made.identity["id"] if made else file_state(path) for path, made in makers.items()]
    own, versions = {}, []  # named parameters are settings, all others versions of code
    for parameter, value in rule.params._allitems():
        if parameter == "upstream" or rule._is_deriving_function(value):
            continue
        value = value(Wildcards(fromdict=wildcards)) if callable(value) else value
        if parameter is None or parameter in VERSIONED:
            versions.append(value)
        else:
            own[parameter] = value
    upstream = digest(sorted(states))
    who = identity(name, wildcards, own, ids)
    state = digest(who["id"], versions, upstream)
    return SimpleNamespace(identity=who, upstream=upstream, state=state)


def input_paths(rule, wildcards):
    """The inputs of a job as plain text: Snakemake's own objects cost ten times as much."""
    modifier = rule.input_modifier
    if modifier and (modifier.prefix or modifier._prefix_replacements):  # of a module
        return list(map(str, rule.expand_input(wildcards)[0]))
    found = []
    for item in rule.input:
        function = getattr(item, "callable", None) or getattr(item, "_file", item)
        function = getattr(function, "callable", function)
        value = function(Wildcards(fromdict=wildcards)) if callable(function) else [str(item)]
        value = value.values() if isinstance(value, dict) else value
        for entry in [value] if isinstance(value, str) else value:
            found += [entry] if isinstance(entry, str) else entry
    root = config["results"]
    return [path.replace(paths.ROOT, root).format(**wildcards) for path in found]


@cache
def maker(path):
    """The job that makes a file; None for files that no rule makes."""
    index, names = makers_of_files()
    for found in index.match_producers(path):
        return job_of(names[found.name], found.get_wildcards(path))
    return None


@cache
def makers_of_files():
    """All rules by what they make, and their names here (another workflow may rename them)."""
    here = {proxy.rule.name: name for name, proxy in rules._rules.items()}
    return OutputIndex([proxy.rule for proxy in rules._rules.values()]), here


@cache
def file_state(path):
    """The content of a file that no rule makes (of a large one, its size and time)."""
    if not Path(path).is_file():
        return "absent"
    facts = Path(path).stat()
    return sha256(path)[:12] if facts.st_size < 50e6 else f"{facts.st_size} {facts.st_mtime_ns}"


# ---- results that were copied here


def refuse_unrecorded(dag):
    """Name results that Snakemake has no record of, and whose settings are not the config's.

    It takes files without a record (of a copied folder) for up to date, whatever they are of.
    """
    for job in (job for level in dag.toposorted() for job in level):
        if dag.needrun(job) or not job.output or dag.workflow.persistence.has_metadata(job):
            continue
        name = makers_of_files()[1].get(job.rule.name)
        for path in map(str, job.output) if name else ():
            if Path(path).suffix in (".json", ".safetensors") and Path(path).is_file():
                try:
                    refuse_foreign(
                        path, job_of(name, job.wildcards).identity, read_provenance(path)
                    )
                except UserError as error:
                    raise WorkflowError(
                        f"{error} (Snakemake has no record of this file, so it was copied here; "
                        "docs/reruns.md says how to take it as it is.)"
                    ) from None


def explain_missing():
    """A file of the user's own that is not there, or a target that no rule makes, by its name."""
    try:
        for name in BENCH.used_datasets:
            if REGISTRY[name].source == "file":
                check_own_file(REGISTRY[name])
    except UserError as error:
        raise WorkflowError(str(error)) from None
    index, names = makers_of_files()
    askable = [name for name, proxy in rules._rules.items() if not proxy.rule.has_wildcards()]
    for target in map(str, workflow.dag_settings.targets or ()):
        made = next(iter(index.match_producers(target)), None)
        if target not in names and made is None and not Path(target).exists():
            raise WorkflowError(
                explain_target(target, BENCH, askable, TABLES, figure_titles(BENCH))
            )


def build_dag_and_check(build=workflow._build_dag):
    """Snakemake has no hook of its own between planning and "Nothing to be done"."""
    settle_machine()
    if not workflow.is_main_process:
        build()
        return
    check_targets()
    try:
        build()
    except (MissingRuleException, MissingInputException):
        explain_missing()
        raise
    if not workflow.touch:  # `--touch` takes everything as it is, and records it
        refuse_unrecorded(workflow.dag)
        check_limits()


workflow._build_dag = build_dag_and_check
