"""Evaluation: metrics, consistency under transforms, and sizes."""
