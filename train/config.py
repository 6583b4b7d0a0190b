"""The YAML file of a training run: what may stand in it, and clear errors for what may not.

One file holds everything about a run: rules, network, PPO, workers and when to stop.
Any value can be overridden on the command line by ``key=value`` with dots,
``ppo.lr=1e-4``; the value is read as YAML. Neither torch nor Ray is needed to read a config.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from lupai.agents.search.network import load_value, sight_of
from lupai.envs.errors import LupaiError, RulesError
from lupai.envs.game import GAMES, rules_class
from lupai.train.dmc.config import DMCSection
from lupai.train.games import DEFAULT, TrainingGame, training_game
from lupai.train.league.config import ExploitSection, SelfPlaySection
from lupai.train.sampling.config import DistillationSection, ImitationSection
from lupai.train.sections import LearningRate, LearningSection, Section
from lupai.train.watchdog import rates_of

__all__ = [
    "ConfigError",
    "TrainConfig",
    "dump_config",
    "load_config",
    "parse_config",
]


class ConfigError(LupaiError):
    """A config that cannot be used; one line with file, key, value and what is allowed."""


class EnvConfig(Section):
    """How the game is shown to the learner."""

    skip: Literal["none", "forced", "idle"] = Field(
        "idle",
        description="decisions that are played without asking: none; forced: those with one legal "
        "move; idle: also those where nothing can be played (pass, yield or claim): always pass",
    )


class RewardSection(Section):
    """What a seat is paid for in training; see lupai.train.rewards."""

    kind: Literal["score", "placement", "potential"] = Field(
        "score",
        description="score: final score, at the end; placement: each place's value when it is "
        "taken; potential: score, and shaping by the score to be expected",
    )
    scale: float = Field(0.1, gt=0, le=10, description="reward = points x this")
    coefficient: float = Field(
        1.0, ge=0, le=100, description="of potential: weight of the shaping at the start"
    )
    anneal_steps: int = Field(
        1_000_000, ge=1, description="of potential: decisions until the weight is 0, linearly"
    )


class NetworkSection(Section):
    """Sizes of the networks; see lupai.agents.network."""

    hidden: tuple[int, ...] = Field((256, 128), min_length=1, description="policy, state layers")
    move_hidden: int = Field(64, ge=1, le=4096, description="units where state meets move")
    value_hidden: tuple[int, ...] = Field((128, 64), min_length=1, description="value layers")
    critic: Literal["observation", "perfect"] = Field(
        "perfect",
        description="what the value network sees in training: the seat's observation, or also all "
        "hands and true roles",
    )
    role_head: float = Field(
        0.1,
        ge=0,
        le=10,
        description="weight of the log loss of guessing who is guard from the policy's state, "
        "where the seat does not know it; 0: no such head",
    )
    history: Literal["none", "gru", "attention"] = Field(
        "none", description="encoder of the latest 16 moves; none: flat, as in the observation"
    )
    history_units: int = Field(32, ge=1, le=1024, description="units of that encoder")
    advice: Literal["none", "tactical"] = Field(
        "none",
        description="tactical: see what it thinks of the moves, and play its candidates only; "
        "none: find out everything from the cards",
    )
    candidates: int = Field(
        8, ge=2, le=64, description="of an advice: best-priced moves of a decision, at most"
    )

    @field_validator("hidden", "value_hidden")
    @classmethod
    def _positive(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(not 1 <= n <= 8192 for n in value):
            raise ValueError("every layer needs 1 to 8192 units")
        return value


class PPOSection(LearningSection):
    """Proximal policy optimisation."""

    lr: LearningRate = 3e-4
    gamma: float = Field(1.0, gt=0, le=1, description="discount from one own decision to the next")
    lambda_: float = Field(0.95, alias="lambda", ge=0, le=1, description="GAE")
    clip: float = Field(0.2, gt=0, le=1, description="policy ratio clip")
    entropy: float = Field(0.01, ge=0, le=1, description="entropy bonus")
    value_coeff: float = Field(0.5, ge=0, le=100, description="weight of the value loss")
    grad_clip: float = Field(0.5, gt=0, description="largest global norm of a gradient")
    batch_size: int = Field(8000, ge=16, description="decisions per iteration")
    minibatch_size: int = Field(1000, ge=1, description="decisions per gradient step")
    epochs: int = Field(3, ge=1, le=100, description="passes over a batch")

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True
    )

    @model_validator(mode="after")
    def _minibatch_fits(self) -> PPOSection:
        if self.minibatch_size > self.batch_size:
            raise ValueError(
                f"minibatch_size ({self.minibatch_size}) must not exceed batch_size "
                f"({self.batch_size})"
            )
        return self


class WorkersSection(Section):
    """Where the games are played."""

    sampler: Literal["batch", "rllib"] = Field(
        "batch", description="batch: all tables at once on the vector engine; rllib: its own runner"
    )
    runners: int = Field(0, ge=0, le=1024, description="sampling processes; 0: in the trainer")
    envs_per_runner: int = Field(64, ge=1, le=4096, description="tables per process")
    cpus: int | None = Field(None, ge=1, description="CPUs that Ray may use; none: all")
    object_store_mb: int = Field(200, ge=80, le=1_000_000, description="Ray's shared memory")
    cpus_per_runner: int = Field(1, ge=0, le=256, description="CPUs that Ray reserves for each")
    wait_minutes: float = Field(
        0.5, ge=0, le=1440, description="how long to wait for CPUs in use or nodes not yet up"
    )
    restarts: int = Field(
        10, ge=0, description="lost runners that a run on a cluster (--address) replaces"
    )


class LearnersSection(Section):
    """Where the network learns."""

    num: int = Field(0, ge=0, le=64, description="learning processes; 0: in the trainer")
    cpus: int = Field(1, ge=0, le=256, description="CPUs that Ray reserves for each")
    gpus: float = Field(0, ge=0, le=1, description="GPUs for each; with num=0 for the trainer")


class StopSection(Section):
    """When to stop; the first limit reached counts."""

    minutes: float | None = Field(None, gt=0, description="minutes of training, resumes included")
    steps: int | None = Field(None, ge=1, description="decisions, resumes included")

    @model_validator(mode="after")
    def _one_limit(self) -> StopSection:
        if self.minutes is None and self.steps is None:
            raise ValueError("give minutes, steps or both")
        return self


class CheckpointSection(Section):
    """What is kept."""

    every_minutes: float = Field(5.0, gt=0, description="minutes between checkpoints")
    keep: int = Field(3, ge=1, description="newest checkpoints that stay, beside the best")


class WatchSection(Section):
    """How a run is watched; nothing of it changes what is learned."""

    every: int = Field(
        50, ge=0, description="iterations between matches against the anchors; 0: none"
    )
    deals: int = Field(
        40, ge=2, le=10_000, description="deals of each match, one hand for each seat, and two"
    )
    anchors: tuple[str, ...] = Field(
        ("random", "greedy", "tactical"),
        min_length=1,
        description="agents to be measured against; the score against the last decides the best",
    )
    bands: dict[str, tuple[float, float]] = Field(
        {},
        description="lowest and highest rate that is no warning, by rate, instead of ours",
    )
    entropy_min: float = Field(0.01, ge=0, description="entropy in nats below which to warn")
    entropy_share: float = Field(
        0.05, ge=0, le=1, description="the same as a share of the run's first entropy"
    )

    @field_validator("anchors")
    @classmethod
    def _each_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError("every anchor once")
        return value

    @field_validator("bands")
    @classmethod
    def _are_bands(cls, value: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        for name, (low, high) in value.items():
            if not 0 <= low <= high <= 1:
                raise ValueError(f"a band is two numbers from 0 to 1, the lower first: {name}")
        return value


class TrainConfig(Section):
    """A whole training run."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80, description="the run's folder"
    )
    runs: str = Field("runs", min_length=1, description="folder in which the run folder lies")
    algorithm: Literal["ppo", "dmc"] = Field(
        "ppo", description="ppo: RLlib's PPO; dmc: Deep Monte Carlo, without Ray"
    )
    seed: int = Field(0, ge=0, lt=1 << 31, description="seed of deals, weights and exploration")
    game: str = Field(DEFAULT, description="which game; if not given that of the preset")
    rules: str | dict[str, Any] = Field("qingdao", description="rules string, or preset + options")
    env: EnvConfig = EnvConfig()
    reward: RewardSection = RewardSection()
    network: NetworkSection = NetworkSection()
    ppo: PPOSection = PPOSection()
    dmc: DMCSection = DMCSection()
    imitation: ImitationSection = ImitationSection()
    distillation: DistillationSection = DistillationSection()
    selfplay: SelfPlaySection = SelfPlaySection()
    target: str | None = Field(None, description="exploit: whom; an agent's name or folder")
    exploit: ExploitSection = ExploitSection()
    workers: WorkersSection = WorkersSection()
    learners: LearnersSection = LearnersSection()
    watch: WatchSection = WatchSection()
    stop: StopSection
    checkpoint: CheckpointSection = CheckpointSection()

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, data: Any) -> Any:
        """Fill in what follows from the game, and the game from the rules."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        if "game" not in data and "rules" in data:
            data["game"] = _game_of(data["rules"])
        name = data.get("game", DEFAULT)
        if not isinstance(name, str) or name not in GAMES:
            return data  # refused below, by its name
        data.setdefault("rules", rules_class(name).default)
        game = training_game(name)
        if not game.guards and isinstance(network := data.get("network", {}), dict):
            data["network"] = {"role_head": 0, **network}
        if isinstance(selfplay := data.get("selfplay", {}), dict):
            data["selfplay"] = {"seats": [1.0] * (game.seats - 1), **selfplay}
        return data

    @field_validator("game")
    @classmethod
    def _game_exists(cls, value: str) -> str:
        if value not in GAMES:
            raise ValueError(", ".join(GAMES))
        return value

    @field_validator("rules")
    @classmethod
    def _rules_exist(cls, value: str | dict[str, Any], info: ValidationInfo) -> str:
        game = info.data.get("game", DEFAULT)
        try:
            return str(rules_class(game).load(value))
        except RulesError as error:
            other = _game_of(value)
            if other == game:
                raise ValueError(str(error)) from None
            raise ValueError(
                f"rules of {game}, as game says, such as {rules_class(game).default}; these are of "
                f"{other}: leave game out, or give game={other}"
            ) from None

    @model_validator(mode="after")
    def _game_fits(self) -> TrainConfig:
        game = self.training_game
        if len(self.selfplay.seats) != game.seats - 1:
            raise ValueError(
                f"selfplay.seats has {len(self.selfplay.seats)} weights; it should have "
                f"{game.seats - 1}, for 1, 2, … of the {game.seats} seats of {game.name}"
            )
        if self.reward.kind not in game.reward_kinds:
            raise ValueError(
                f"reward.kind {self.reward.kind} is not of {game.name}; it has "
                f"{', '.join(game.reward_kinds)}"
            )
        if game.guards:
            return self
        for wrong, text in (
            (self.network.role_head > 0, "network.role_head: nobody is a hidden guard; give 0"),
            (
                self.selfplay.policies != "shared",
                f"selfplay.policies {self.selfplay.policies}: there are no roles; give shared",
            ),
            (
                self.selfplay.mode == "exploit",
                "selfplay.mode exploit: its gates and camps are Baohuang's; give self or league",
            ),
        ):
            if wrong:
                raise ValueError(f"{game.name} is trained without {text}")
        return self

    @model_validator(mode="after")
    def _bands_have_rates(self) -> TrainConfig:
        known = rates_of(self.rules_string, self.game)
        for name in self.watch.bands:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(
                    f"watch.bands: no rate {name!r} under {self.rules_string}{hint} (known here: "
                    f"{', '.join(known)})"
                )
        return self

    @model_validator(mode="after")
    def _sampler_fits(self) -> TrainConfig:
        if self.workers.sampler == "batch":
            return self
        for asked, what, reason in (
            (
                self.imitation.steps > 0,
                "imitation",
                ": in RLlib's own runner only the policy plays",
            ),
            (self.network.advice != "none", "network.advice", ", which is RLlib's own"),
            (self.distillation.steps > 0, "distillation", ", which is RLlib's own"),
            (
                self.selfplay.mode != "self",
                f"selfplay.mode {self.selfplay.mode}",
                ": RLlib's own runner knows no opponents",
            ),
            (self.algorithm == "dmc", "algorithm dmc", ", which is RLlib's own"),
        ):
            if asked:
                raise ValueError(
                    f"{what} needs workers.sampler batch, not {self.workers.sampler}{reason}"
                )
        return self

    @model_validator(mode="after")
    def _distillation_fits(self) -> TrainConfig:
        rules: Any = rules_class(self.game).load(self.rules)
        if self.distillation.steps and load_value(self.game, rules) is None:
            alike = ", ".join(sight_of(self.game).deciding)
            raise ValueError(
                f"distillation needs a value network for the rules, and there is none for "
                f"{self.rules_string}: as in the preset have to be {alike}"
            )
        return self

    @model_validator(mode="after")
    def _opponents_fit(self) -> TrainConfig:
        if (self.selfplay.mode == "exploit") != (self.target is not None):
            raise ValueError(
                "selfplay.mode exploit and target go together: give "
                + ("target=…, an agent's name or folder" if self.target is None else
                   "selfplay.mode=exploit, as configs/qingdao_exploit.yaml does")
            )  # fmt: skip
        return self

    @model_validator(mode="after")
    def _algorithm_fits(self) -> TrainConfig:
        if self.algorithm == "ppo":
            if self.dmc.heads != "score":
                raise ValueError(
                    f"dmc.heads {self.dmc.heads} needs algorithm dmc, not ppo, whose policy has "
                    f"probabilities of moves and no values of them: leave dmc.heads out"
                )
            return self
        for wrong, text in (
            (
                self.reward.kind != "score",
                f"needs reward.kind score, not {self.reward.kind}: it learns what hands end with",
            ),
            (
                self.network.critic != "perfect",
                f"takes what its value network sees from dmc.baseline: give dmc.baseline="
                f"{self.network.critic}, and leave network.critic out",
            ),
            (
                self.learners.num > 0 or self.learners.gpus > 0,
                "learns in the trainer, on the CPU: leave learners.num and learners.gpus at 0",
            ),
        ):
            if wrong:
                raise ValueError(f"algorithm dmc {text}")
        return self

    @property
    def temperature(self) -> float:
        """Of the trained agent where its moves are drawn; see lupai.agents.checkpoint.AgentCard."""
        return self.dmc.temperature if self.algorithm == "dmc" else 1.0

    @property
    def training_game(self) -> TrainingGame:
        """The game, as training sees it."""
        return training_game(self.game)

    @property
    def rules_string(self) -> str:
        """The rules as the one string that is written everywhere."""
        return str(self.rules)

    @property
    def run_folder(self) -> Path:
        """Folder of the run."""
        return Path(self.runs) / self.name


def _game_of(rules: Any) -> str:
    """The game that has the preset, or else reads the rules; DEFAULT where none does."""
    for name in (DEFAULT, *GAMES):
        try:
            rules_class(name).load(rules)
        except (RulesError, OSError):
            continue
        return name
    named = str(rules.get("preset") if isinstance(rules, dict) else rules).partition(";")[0]
    return next((name for name in GAMES if named in rules_class(name).presets), DEFAULT)


def load_config(source: str | os.PathLike[str], overrides: Sequence[str] = ()) -> TrainConfig:
    """Read a config file.

    Args:
        source: path of a YAML file, or the name of one that ships with lupai (``qingdao_quick``).
        overrides: ``key=value`` texts, applied in order.

    Raises:
        ConfigError: no such file, not YAML, or a key or value that is not allowed.
    """
    path = Path(source)
    where = str(source)
    if path.is_file():
        text = path.read_text(encoding="utf-8")
    else:
        shipped = {
            entry.name: entry
            for entry in resources.files("lupai.configs").iterdir()
            if entry.name.endswith(".yaml")
        }
        name = where if where.endswith(".yaml") else f"{where}.yaml"
        if name not in shipped:
            raise ConfigError(
                f"config {where}: no such file; shipped configs: "
                f"{', '.join(sorted(n.removesuffix('.yaml') for n in shipped))}"
            )
        text = shipped[name].read_text(encoding="utf-8")
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"config {where}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"config {where}: should hold keys and values, such as 'name: quick'")
    return parse_config(data, overrides, where=where)


def parse_config(
    data: dict[str, Any], overrides: Sequence[str] = (), *, where: str = "(given)"
) -> TrainConfig:
    """Check plain values; ``where`` names their source in errors.

    Raises:
        ConfigError: a key or value that is not allowed.
    """
    merged: dict[str, Any] = _copy(data)
    origin: dict[str, str] = {}
    for text in overrides:
        _override(merged, origin, text)
    try:
        return TrainConfig.model_validate(_numbers(merged))
    except ValidationError as error:
        raise ConfigError(_explain(error, where, origin)) from None


def dump_config(config: TrainConfig) -> str:
    """YAML text that :func:`load_config` reads back to an equal config."""
    data = config.model_dump(mode="json", by_alias=True)
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


def _copy(value: Any) -> Any:
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value


def _numbers(value: Any) -> Any:
    """YAML 1.1 reads ``1e-4`` as a text; read such texts as the numbers they mean."""
    if isinstance(value, dict):
        return {k: _numbers(v) for k, v in value.items()}
    if isinstance(value, str) and value[:1] in "+-.0123456789" and value[:1]:
        try:
            number = float(value)
        except ValueError:
            return value
        return number if math.isfinite(number) else value
    return value


def _override(data: dict[str, Any], origin: dict[str, str], text: str) -> None:
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key or not all(key.split(".")):
        raise ConfigError(f"override {text!r}: should look like key=value, such as ppo.lr=1e-4")
    *parents, last = key.split(".")
    place = data
    for name in parents:
        inner = place.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"override {text!r}: {name!r} is a single value, not a section")
        place = inner
    try:
        place[last] = yaml.safe_load(value)
    except yaml.YAMLError:
        raise ConfigError(f"override {text!r}: the value is not YAML") from None
    origin[key] = text


def _explain(error: ValidationError, where: str, origin: dict[str, str]) -> str:
    first = error.errors()[0]
    names = [str(part) for part in first["loc"] if not isinstance(part, int)]
    if names[:1] == ["rules"]:
        names = names[:1]  # pydantic adds the member of the union
    key = ".".join(names)
    source = f"override {origin[key]!r}" if key in origin else f"config {where}"
    kind, message = first["type"], first["msg"]
    message = message.removeprefix("Value error, ").removeprefix("Input should be ")
    if kind == "missing":
        return f"{source}: {key!r} is missing; it must be given"
    if kind == "extra_forbidden":
        known = _known(names[:-1])
        near = difflib.get_close_matches(names[-1], known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{source}: unknown key {key!r}{hint} (known here: {', '.join(known)})"
    if kind == "value_error" and isinstance(first["input"], dict):
        return f"{source}: {key or 'config'}: {message}"
    return f"{source}: {key} = {first['input']!r} is not allowed; allowed: {message}"


def _known(parents: Sequence[str]) -> list[str]:
    model: Any = TrainConfig
    for name in parents:
        model = next(
            field.annotation
            for key, field in model.model_fields.items()
            if name in (key, field.alias)
        )
    return [field.alias or key for key, field in model.model_fields.items()]
