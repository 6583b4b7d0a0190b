"""A trained agent's folder without any training, for tests of what loads one."""

from pathlib import Path


def save_tiny_agent(folder: Path, rules: str = "qingdao") -> Path:
    """Write an agent folder with small random weights."""
    import torch

    from lupai.agents.checkpoint import save_agent
    from lupai.agents.network import MoveScorer, NetworkConfig, move_table
    from lupai.envs.baohuang_v0 import Engine

    engine = Engine(rules)
    sizes = NetworkConfig(hidden=(8,), move_hidden=8, value_hidden=(8,))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        policy = MoveScorer(move_table(engine.observation_layout), sizes)
    return save_agent(folder, policy, sizes, engine, provenance={"name": "tiny"})
