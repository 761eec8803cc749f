"""Optimizers written in tensor arithmetic, and how an update is traced."""
