# The benchmark of "Unveiling Invariances via Network Pruning". Read on in workflow/rules/, in the
# order of the includes: data flow one way, from download to tables.

from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "reports/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/functions.smk"
include: "workflow/rules/functions_machine.smk"
include: "workflow/rules/functions_aggregate.smk"
include: "workflow/rules/download.smk"
include: "workflow/rules/split.smk"
include: "workflow/rules/supernet.smk"
include: "workflow/rules/prune.smk"
include: "workflow/rules/finetune.smk"
include: "workflow/rules/tune.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/figures.smk"


onstart:
    check_before_start()


rule all:
    default_target: True
    input:
        "<results>/report/index.html",
