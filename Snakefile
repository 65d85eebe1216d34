# The workflow is in workflow/Snakefile, where Snakemake's catalog looks for it.


include: "workflow/Snakefile"


workflow.default_target = "all"  # an include leaves it alone
