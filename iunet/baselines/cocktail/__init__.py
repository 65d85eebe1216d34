"""MLP+C: an MLP with a tuned cocktail of regularisers (Kadra et al. 2021).

`settings` says what a cocktail is and how one is drawn, `network`, `augmenters` and
`optimisers` what each regulariser does, and `train` fits a network with it. Beyond docs/method.md,
the original (github.com/automl/Auto-PyTorch, as set up by WellTunedSimpleNets) is followed; where
we differ from it, the place says so.
"""
