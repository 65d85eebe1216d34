"""IUNET as a scikit-learn classifier, and the command `iunet`: the method for data of one's own."""
