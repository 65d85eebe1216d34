"""What a training needs and no number depends on: checkpoints, signals, progress, devices."""
