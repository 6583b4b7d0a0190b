"""Experiments with beliefs about who is guard."""
