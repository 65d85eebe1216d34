"""The paper's own ideas: transforms, objectives, pruning, and the choice of a cut."""
