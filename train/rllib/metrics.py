"""Of RLlib's result of an iteration, the numbers that are logged, under our names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from lupai.train.learning.windows import Windows
from lupai.train.rllib.mapping import POLICY
from lupai.train.rllib.role_check import GROUNDED_LOSS, GUESSES, GUESSES_LOSS

__all__ = ["metrics"]

# Our name of each of the learner's metrics; those that are not here keep theirs behind `loss/`.
LEARNED: Final = {
    "policy_loss": "loss/policy",
    "imitation_log_loss": "loss/imitation",
    "distillation_loss": "loss/distillation",
    "vf_loss": "loss/value",
    "vf_explained_var": "loss/value_explained",
    "gradients_default_optimizer_global_norm": "loss/gradient_norm",
    "role_log_loss": "role/log_loss",
    "role_value_explained": "value_explained",  # by role
    "role_entropy": "entropy",  # by role
}
# RLlib's bookkeeping, and what says nothing here or is told by the windows.
UNSAID: Final = frozenset(
    {
        "vf_loss_unclipped", "total_loss", "mean_kl_loss", "curr_kl_coeff", "curr_entropy_coeff",
        "weights_seq_no", "num_trainable_parameters", "num_non_trainable_parameters",
        "diff_num_grad_updates_vs_sampler_policy", "num_module_steps_trained",
        "num_module_steps_trained_lifetime", "num_module_steps_trained_throughput",
        "num_module_steps_trained_lifetime_throughput", "module_train_batch_size_mean",
        GUESSES, GUESSES_LOSS, GROUNDED_LOSS,
    }
)  # fmt: skip


def metrics(result: dict[str, Any], windows: Windows) -> dict[str, float]:
    """Flat metrics of one iteration; ``windows`` take it in.

    Args:
        result: what ``Algorithm.train`` returned; its timers are sums, see ``LupaiPPO``.
        windows: of the run.
    """
    played, learned = result["env_runners"], result["learners"][POLICY]
    row: dict[str, Any] = {
        "steps": int(played["num_env_steps_sampled"]),
        "hands": int(number(played.get("hands_ended"))),
        "play/illegal_actions": played.get("illegal_actions"),
    }
    row |= _times(result.get("timers", {}), played)
    row |= _hands(played, windows) | _guesses(learned, windows)
    for key, value in sorted(learned.items()):
        if key not in UNSAID:
            row |= dict(flat(LEARNED.get(key, f"loss/{key}"), value))
    faults = result.get("fault_tolerance", {})
    if faults.get("num_healthy_workers"):
        row["cluster/runners"] = faults["num_healthy_workers"]
        row["cluster/restarts"] = faults.get("num_remote_worker_restarts", 0)
    return {k: v for k, v in row.items() if v is not None and v == v}


def _times(timers: dict[str, Any], played: dict[str, Any]) -> dict[str, float]:
    """Seconds of this iteration's halves, and shares of it."""
    names = ("env_runner_sampling_timer", "learner_update_timer", "training_iteration")
    sampling, learning, whole = (number(timers.get(name)) for name in names)
    if not whole:
        return {}
    row = {
        "time/sampling": sampling,
        "time/learning": learning,
        "time/sampling_share": sampling / whole,
        "time/learning_share": learning / whole,
    }
    if busy := number(played.get("sampling_seconds")):  # of all samplers together
        asked = number(played.get("inference_seconds"))
        row["time/inference_share"] = sampling / whole * asked / busy
    return row


def _hands(played: dict[str, Any], windows: Windows) -> dict[str, float]:
    """Means over the latest hands."""
    seats, points = played.get("role_seats", {}), played.get("role_points", {})
    sums = {"decisions": number(played.get("decisions"))}
    if "solo_hands" in played:
        sums["solo"] = number(played["solo_hands"])
    sums |= {f"seats/{role}": number(value) for role, value in seats.items()}
    sums |= {f"points/{role}": number(value) for role, value in points.items()}
    return windows.add_hands(int(number(played.get("hands_ended"))), sums)


def _guesses(learned: dict[str, Any], windows: Windows) -> dict[str, float | None]:
    """Means over the latest guesses of who is guard that were compared with the evidence."""
    names = {"role/check_log_loss": GUESSES_LOSS, "role/grounded_log_loss": GROUNDED_LOSS}
    window = windows.guesses
    window.add(
        int(number(learned.get(GUESSES))), {n: number(learned.get(n)) for n in names.values()}
    )
    return {ours: window.mean(name) for ours, name in names.items()}


def flat(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Numbers of a value that may be a dict of dicts, with their paths as names."""
    if isinstance(value, dict):
        for key, inner in sorted(value.items()):
            yield from flat(f"{name}/{key}", inner)
    elif isinstance(value, int | float):
        yield name, value


def number(value: Any) -> float:
    """A sum of RLlib's; it is NaN where nothing was logged in this iteration."""
    return 0.0 if value is None or value != value else float(value)
