"""Predictions of networks, and the scores of predictions."""
