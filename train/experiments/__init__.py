"""Experiments of docs/training.md: several recipes, several seeds, the same measurement."""
