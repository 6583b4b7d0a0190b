"""Environments: cards, sets, rules engines, and their PettingZoo faces."""
