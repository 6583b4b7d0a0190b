"""Which runs an experiment has: recipes times seeds, and what is measured at their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lupai.train.config import ConfigError, TrainConfig, load_config

__all__ = [
    "EXPERIMENTS", "Experiment", "Run", "Variant", "ablation", "algorithms", "dmc", "full", "quick",
]  # fmt: skip

SEEDS: Final = (1, 2, 3)
POINTS: Final = 10  # of a learning curve, where the number of iterations is known
WATCHED: Final = ("watch.deals=100",)  # curves of experiments: narrower than those of daily runs
# What a run is given by its place in the plan, and how to choose it.
OWN: Final = {
    "seed": "--seeds N takes 1 to N",
    "name": "it tells recipe and seed",
    "runs": "--runs FOLDER chooses where they lie",
}
PRESETS: Final = ("qingdao", "shiwei", "weihai")


@dataclass(frozen=True)
class Variant:
    """A recipe.

    Attributes:
        name: of its runs' folders.
        config: shipped config or file.
        about: a few words for a table.
        overrides: ``key=value`` texts.
    """

    name: str
    config: str
    about: str
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One recipe with one seed.

    Attributes:
        variant: the recipe. seed: of the run. folder: its run folder.
        overrides: all of its values that are not the config file's.
    """

    variant: Variant
    seed: int
    folder: Path
    overrides: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.folder.name

    def config(self) -> TrainConfig:
        """The config that it is trained with.

        Raises:
            ConfigError: the config or a value of it is not allowed.
        """
        return load_config(self.variant.config, self.overrides)


@dataclass(frozen=True)
class Experiment:
    """Recipes that are compared, or stand beside each other.

    Attributes:
        name: of its folder and files.
        variants: the recipes. seeds: each recipe is trained with each of them.
        overrides: ``key=value`` texts for all of them.
        base: name of the recipe that the others are compared with, if any.
        runs: folder in which ``NAME/`` with the run folders lies.
        deals: of the pack, in each match at the end.
        pack: a pack's name.
        opponents: who is met in these matches. formats: how.
        anchors: opponents whose curves are drawn.
    """

    name: str
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...] = SEEDS
    overrides: tuple[str, ...] = ()
    base: str | None = None
    runs: Path = Path("runs")
    deals: int = 400
    pack: str = "test"
    opponents: tuple[str, ...] = ("random", "greedy", "tactical")
    formats: tuple[str, ...] = ("seat", "camp")
    anchors: tuple[str, ...] = ("greedy", "tactical")

    def all_runs(self) -> list[Run]:
        """Seed by seed, so that an experiment that is cut short has something of every recipe."""
        return [self._run(variant, seed) for seed in self.seeds for variant in self.variants]

    def _run(self, variant: Variant, seed: int) -> Run:
        folder, name = self.runs / self.name, f"{variant.name}-{seed}"
        own = (f"runs={folder}", f"name={name}", f"seed={seed}")
        return Run(variant, seed, folder / name, (*variant.overrides, *self.overrides, *own))


def ablation(steps: int = 400_000) -> Experiment:
    """What each part of the recipe gives, after equally many decisions."""
    config = "qingdao_quick"
    batch = load_config(config).ppo.batch_size
    # The shaping ends at half of the way, so that what is left at the end is learned without it.
    potential = ("reward.kind=potential", f"reward.anneal_steps={max(1, steps // 2)}")
    return Experiment(
        "ablation",
        (
            Variant("base", config, "as configured: perfect-information critic, role head, score"),
            Variant("critic-off", config, "the critic sees the seat's observation only",
                    ("network.critic=observation",)),
            Variant("role-head-off", config, "no role head", ("network.role_head=0",)),
            Variant("placement", config, "reward when a place is taken",
                    ("reward.kind=placement",)),
            Variant("potential", config, "shaping by a potential, gone at half of the way",
                    potential),
        ),
        overrides=("stop.minutes=null", f"stop.steps={steps}", *WATCHED,
                   f"watch.every={max(1, steps // batch // POINTS)}"),
        base="base",
    )  # fmt: skip


def quick() -> Experiment:
    """The small recipe of each preset."""
    return Experiment(
        "quick",
        tuple(Variant(preset, f"{preset}_quick", f"`{preset}_quick`") for preset in PRESETS),
        overrides=(*WATCHED, "watch.every=5"),
    )


def full(minutes: float | None = None) -> Experiment:
    """The long recipe of qingdao; ``minutes``: not so long."""
    limit = () if minutes is None else (f"stop.minutes={minutes:g}",)
    variant = Variant("qingdao", "qingdao_full", "`qingdao_full`", limit)
    return Experiment("full", (variant,), overrides=WATCHED)


def algorithms(minutes: float = 30) -> Experiment:
    """Deep Monte Carlo against PPO on qingdao, equally long, one process each."""
    # PPO's own part begins early enough to be seen: in time a third of the run or more is its own.
    ppo = ("imitation.steps=300_000", "distillation.steps=1_000_000", "distillation.trust=1.5",
           "ppo.lr_steps=2_000_000")  # fmt: skip
    return Experiment(
        "algorithms",
        (
            Variant("dmc", "qingdao_dmc", "`qingdao_dmc`, one process", ("workers.runners=0",)),
            Variant("ppo", "qingdao_full",
                    "`qingdao_full`, distillation for the first million decisions", ppo),
        ),
        overrides=(f"stop.minutes={minutes:g}", "stop.steps=null", *WATCHED,
                   "watch.anchors=[tactical]", "watch.every=15"),
        opponents=("greedy", "tactical"),
        anchors=("tactical",),
    )  # fmt: skip


def dmc(steps: int = 300_000) -> Experiment:
    """What each part of qingdao_dmc gives, after equally many decisions."""
    config = "qingdao_dmc"
    batch = load_config(config).dmc.batch_size
    return Experiment(
        "dmc",
        (
            Variant("base", config, "as configured: distillation, trust, advice, role head"),
            Variant("distillation-off", config, "`tactical` plays, values learned from scores only",
                    ("distillation.steps=0",)),
            Variant("trust-off", config, "no points in advance for the price of `tactical`",
                    ("distillation.trust=0",)),
            Variant("advice-off", config, "the network does not see what `tactical` thinks",
                    ("network.advice=none", "distillation.trust=0")),
            Variant("role-head-off", config, "no role head", ("network.role_head=0",)),
            Variant("heads-both", config, "a head for win, draw and loss learns beside the values",
                    ("dmc.heads=both",)),
        ),
        overrides=("stop.minutes=null", f"stop.steps={steps}", f"imitation.steps={steps // 3}",
                   f"dmc.lr_steps={steps}", "workers.runners=0", *WATCHED,
                   "watch.anchors=[tactical]", f"watch.every={max(1, steps // batch // 3)}"),
        base="base",
        opponents=("greedy", "tactical"),
        anchors=("tactical",),
    )  # fmt: skip


EXPERIMENTS: Final[dict[str, Callable[..., Experiment]]] = {
    "ablation": ablation,
    "quick": quick,
    "full": full,
    "algorithms": algorithms,
    "dmc": dmc,
}


def changed(
    experiment: Experiment,
    *,
    seeds: int | None = None,
    deals: int | None = None,
    runs: Path | None = None,
    overrides: Sequence[str] = (),
) -> Experiment:
    """The same with other sizes; ``seeds``: 1 to so many.

    Raises:
        ConfigError: an override of what a recipe sets itself, by which recipes that are compared
            would be the same, or of what each run has of its own.
    """
    for text in overrides:
        _demand_free(experiment, text)
    return replace(
        experiment,
        seeds=experiment.seeds if seeds is None else tuple(range(1, seeds + 1)),
        deals=experiment.deals if deals is None else deals,
        runs=experiment.runs if runs is None else runs,
        overrides=(*experiment.overrides, *overrides),
    )


def _demand_free(experiment: Experiment, text: str) -> None:
    key = _key(text)
    for name, option in OWN.items():
        if _meet(key, name):
            raise ConfigError(f"--set {text}: each run has its own {name}; {option}")
    for variant in experiment.variants:
        for own in variant.overrides:
            if _meet(key, _key(own)):
                raise ConfigError(
                    f"--set {text}: recipe {variant.name!r} of {experiment.name} sets "
                    f"{_key(own)} itself ({own}), and would be another one; --set is for what no "
                    f"recipe sets"
                )


def _key(override: str) -> str:
    return override.partition("=")[0].strip()


def _meet(one: str, other: str) -> bool:
    """Whether two keys are the same, or one is a section that holds the other."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
