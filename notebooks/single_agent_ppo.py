"""Masked PPO in one file: learn to play one seat of Baohuang against fixed agents.

    python notebooks/single_agent_ppo.py                          # about four minutes on one core
    python notebooks/single_agent_ppo.py --opponents greedy --minutes 10 --save runs/single
    lupai evaluate runs/single --against random,greedy            # what was saved is an agent

Read it from top to bottom, copy it, change it. It needs torch (`pip install ".[train]"`), and
no other training library. Letters in shapes: T steps, B tables, D observation length, L legal
moves of all rows together.
"""

import argparse
import time
from dataclasses import dataclass, fields

import gymnasium
import numpy as np
import torch
from torch import Tensor

from lupai.agents.checkpoint import save_agent
from lupai.agents.network import (
    MoveScorer,
    NetworkConfig,
    ValueNetwork,
    move_table,
    pack_legal,
    segment_chosen,
    segment_entropy,
    segment_log_softmax,
    segment_sample,
    unpack_legal,
)
from lupai.envs import baohuang_v0  # registers lupai/Baohuang-v0


@dataclass
class Args:
    """Every field is an option of the command line."""

    opponents: str = "random"
    """random, greedy, or the folder of an agent"""
    seat: str = "random"
    """a seat 0 ... 4, random, emperor, guard or rebel"""
    rules: str = "qingdao"
    """preset or rules string"""
    minutes: float = 4.0
    """of training"""
    seed: int = 1
    """of deals, weights and draws"""
    save: str = ""
    """folder for the trained agent"""
    evaluate: int = 1000
    """hands that are played before and after, to compare"""
    tables: int = 256
    """B, played at once"""
    steps: int = 16
    """T, decisions of each table between two updates"""
    epochs: int = 3
    """passes over them"""
    minibatch: int = 1024
    """decisions in one gradient step"""
    lr: float = 1e-3
    """of Adam, falling to 0 at the end"""
    lam: float = 0.95
    """of GAE; rewards are not discounted, since they come once, at the end of the hand"""
    clip: float = 0.2
    """of the ratio of new and old probability"""
    entropy: float = 0.01
    """weight of the entropy bonus"""
    reward_scale: float = 0.1
    """scores are some units large"""


def read_args() -> Args:
    """The command line."""
    parser = argparse.ArgumentParser(description="Masked PPO for one seat of Baohuang.")
    for field in fields(Args):
        parser.add_argument(f"--{field.name}", type=field.type, default=field.default)
    return Args(**vars(parser.parse_args()))


def make_env(args: Args) -> gymnasium.vector.VectorEnv:
    """B tables. Decisions with one legal move are not asked: there is nothing to learn."""
    return gymnasium.make_vec(
        baohuang_v0.GYMNASIUM_ID,
        num_envs=args.tables,
        seat_or_role=int(args.seat) if args.seat.isdigit() else args.seat,
        opponents=args.opponents,
        rules=args.rules,
        skip_forced=True,
    )


class Player:
    """Policy and value network. The policy scores only what is legal, each move by its features,
    so there is no row of weights for each of the 10,628 actions and nothing to mask out."""

    def __init__(self, layout) -> None:
        self.sizes = NetworkConfig()
        self.policy = MoveScorer(move_table(layout), self.sizes)
        self.value = ValueNetwork(move_table(layout), self.sizes)
        self.parameters = [*self.policy.parameters(), *self.value.parameters()]

    def distribution(self, seen: Tensor, legal: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities [L] of the legal moves, whose they are [L], and their ids [L].

        Args:
            seen: [N, D] observations.
            legal: [N, W] legal moves as bits (`pack_legal`).
        """
        rows, ids = unpack_legal(legal)
        return segment_log_softmax(self.policy(seen, rows, ids), rows, len(seen)), rows, ids

    @torch.no_grad()
    def act(self, seen: Tensor, legal: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Actions [N] drawn from the policy, and their log-probabilities [N]."""
        log_probs, rows, ids = self.distribution(seen, legal)
        draws = torch.rand(len(seen), dtype=torch.float64, generator=generator)
        place = segment_sample(log_probs, rows, len(seen), draws)
        return ids[place], log_probs[place]


def look(env: gymnasium.vector.VectorEnv, observation: dict) -> tuple[Tensor, Tensor]:
    """Observations [B, D] and legal moves [B, W] as tensors."""
    legal = pack_legal(*env.unwrapped.legal_ids(), env.single_action_space.n)
    return torch.from_numpy(observation["observation"]), torch.from_numpy(legal)


def score(player: Player, args: Args, generator: torch.Generator) -> str:
    """Mean score per hand over hands that are not trained on, with its 95 % interval."""
    env = make_env(args)
    wanted = -(-args.evaluate // args.tables)  # as many from each table: no bias to short hands
    scores = [[] for _ in range(args.tables)]
    observation, _ = env.reset(seed=10_000_000 + args.seed)
    while min(map(len, scores)) < wanted:
        actions, _ = player.act(*look(env, observation), generator)
        observation, rewards, terminated, _, _ = env.step(actions.numpy())
        for table in np.flatnonzero(terminated):
            scores[table].append(rewards[table])
    values = np.concatenate([s[:wanted] for s in scores])
    half = 1.96 * values.std(ddof=1) / len(values) ** 0.5
    return f"{values.mean():+.2f} ± {half:.2f} per hand in {len(values)} hands"


def advantages(rewards: Tensor, values: Tensor, ended: Tensor, lam: float) -> Tensor:
    """GAE [T, B] of rewards [T, B], values [T + 1, B] and ends [T, B]."""
    out, running = torch.zeros_like(rewards), torch.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        goes_on = 1 - ended[t]
        delta = rewards[t] + values[t + 1] * goes_on - values[t]
        running = delta + lam * goes_on * running
        out[t] = running
    return out


def update(player: Player, optimizer, batch: dict[str, Tensor], args: Args, generator) -> None:
    """Some epochs of PPO on N decisions."""
    for _ in range(args.epochs):
        for part in torch.randperm(len(batch["seen"]), generator=generator).split(args.minibatch):
            b = {name: tensor[part] for name, tensor in batch.items()}
            log_probs, rows, ids = player.distribution(b["seen"], b["legal"])
            ratio = (segment_chosen(log_probs, rows, ids, b["action"]) - b["log_prob"]).exp()
            gain = (b["advantage"] - b["advantage"].mean()) / (b["advantage"].std() + 1e-8)
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
            value_loss = 0.5 * (player.value(b["seen"]) - b["return"]).square().mean()
            entropy = segment_entropy(log_probs, rows, len(part)).mean()
            optimizer.zero_grad()
            (policy_loss + value_loss - args.entropy * entropy).backward()
            torch.nn.utils.clip_grad_norm_(player.parameters, 0.5)
            optimizer.step()


def main() -> None:
    """Play, learn, and say how much it helped."""
    args = read_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more only get in each other's way on networks this small
    generator = torch.Generator().manual_seed(args.seed)
    env = make_env(args)
    player = Player(env.unwrapped.engine.observation_layout)
    optimizer = torch.optim.Adam(player.parameters, lr=args.lr, eps=1e-5)
    print(f"before: {score(player, args, generator)}", flush=True)

    observation, _ = env.reset(seed=args.seed)
    seen, legal = look(env, observation)
    start, hands, recent = time.monotonic(), 0, []
    while (spent := (time.monotonic() - start) / 60) < args.minutes:
        optimizer.param_groups[0]["lr"] = args.lr * (1 - spent / args.minutes)
        steps = []
        for _ in range(args.steps):
            action, log_prob = player.act(seen, legal, generator)
            observation, rewards, terminated, _, _ = env.step(action.numpy())
            steps.append((seen, legal, action, log_prob, rewards, terminated))
            recent += rewards[terminated].tolist()
            seen, legal = look(env, observation)
        names = ("seen", "legal", "action", "log_prob", "reward", "ended")
        batch = {
            name: torch.stack([torch.as_tensor(x) for x in column])
            for name, column in zip(names, zip(*steps, strict=True), strict=True)
        }
        with torch.no_grad():
            every = torch.cat([batch["seen"], seen[None]])
            values = player.value(every.flatten(0, 1)).view(every.shape[:2])
        reward = batch.pop("reward").float() * args.reward_scale
        batch["advantage"] = advantages(reward, values, batch.pop("ended").float(), args.lam)
        batch["return"] = batch["advantage"] + values[:-1]
        update(player, optimizer, {k: v.flatten(0, 1) for k, v in batch.items()}, args, generator)
        if len(recent) >= 500:
            hands += len(recent)
            mean = np.mean(recent)
            print(f"{spent:5.1f} min {hands:7d} hands  return {mean:+.2f}", flush=True)
            recent = []
    print(f"after:  {score(player, args, generator)}")
    if args.save:
        provenance = {"name": "single_agent_ppo", "opponents": args.opponents, "seed": args.seed}
        save_agent(
            args.save, player.policy, player.sizes, env.unwrapped.engine, provenance=provenance
        )
        print(f"saved in {args.save}")


if __name__ == "__main__":
    main()
