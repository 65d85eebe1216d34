"""The paper's own ideas: transforms, PIS, objectives, pruning, masks."""
