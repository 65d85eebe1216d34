"""The trainings that the recorder drives: network, its options, and what is minimised."""

TABLE, NARROW = {"width": 512, "depth": 9}, {"width": 32, "depth": 3}
IMAGES, RESNET = {"alpha": 8}, {"width": 0.125}
TRAININGS = {
    "supernet mlp_tab sup": ("mlp_tab", TABLE, "sup"),
    "supernet mlp_tab scl": ("mlp_tab", TABLE, "scl"),
    "supernet mlp_tab ilo": ("mlp_tab", TABLE, "ilo"),
    "supernet mlp_tab lasso": ("mlp_tab", TABLE, "lasso"),
    "supernet narrow sup": ("mlp_tab", NARROW, "sup"),
    "supernet narrow ilo": ("mlp_tab", NARROW, "ilo"),
    "supernet mlp_vis lasso": ("mlp_vis", IMAGES, "lasso"),
    "supernet mlp_vis ilo": ("mlp_vis", IMAGES, "ilo"),
    "supernet resnet18 ilo": ("resnet18", RESNET, "ilo"),
    "finetune mlp_tab adamw": ("mlp_tab", TABLE, "finetune"),
    "finetune mlp_vis sgd": ("mlp_vis", IMAGES, "finetune"),
    "finetune mlp_vis half": ("mlp_vis", IMAGES, "half"),
    "finetune cnn half": ("cnn", {"alpha": 1}, "half"),
    "finetune resnet18 half": ("resnet18", RESNET, "half"),
}
