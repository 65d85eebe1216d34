"""Training: the one loop, its checkpoints, and the two stages that use it."""
