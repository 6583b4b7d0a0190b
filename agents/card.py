"""What is known of a trained agent besides its weights: the card, as JSON, and its checks.

``agent.json`` of an agent folder and the metadata of an ONNX file hold the same card. Neither torch
nor onnxruntime is needed to read it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, get_args

from lupai.agents.advice import advice_hash
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game, make_game

__all__ = [
    "FORMAT", "HISTORIES", "AgentCard", "CheckpointError", "Heads", "History", "Idle",
    "NetworkConfig", "Policies", "advice_of", "engine_for", "read_object",
]  # fmt: skip

FORMAT: Final = "lupai-agent/1"

Idle = Literal["choose", "pass"]
History = Literal["none", "gru", "attention"]
Policies = Literal["shared", "role"]
AdviceBy = Literal["none", "tactical"]
Heads = Literal["score", "both"]
HISTORIES: Final[tuple[History, ...]] = get_args(History)


class CheckpointError(LupaiError):
    """A trained agent that cannot be used: what is wrong, where, and what would be right."""


@dataclass(frozen=True)
class NetworkConfig:
    """What the networks are made of.

    Attributes:
        hidden: units of the layers between observation and state embedding, at least one.
        move_hidden: units in which state and move meet.
        value_hidden: units of the value network's layers.
        history: how the policy reads the latest moves: ``"none"``: flat, as they stand in the
            observation; else through an encoder in place of that, see :mod:`lupai.agents.history`.
        history_units: units of that encoder.
        policies: ``"shared"``: one policy; ``"role"``: one for each role, see
            :mod:`lupai.agents.policies`.
        advice: ``"tactical"``: the network sees what ``tactical`` thinks of the moves, and scores
            its candidates only, see :mod:`lupai.agents.advice`; ``"none"``: nothing of it.
        candidates: how many they are, at most.
        heads: ``"score"``: one output for each move; ``"both"``: also the chances of loss, draw
            and win after it.
        win_weight: of ``"both"``: moves are chosen by output + win_weight * (P(win) - P(loss)).
    """

    hidden: tuple[int, ...] = (256, 128)
    move_hidden: int = 64
    value_hidden: tuple[int, ...] = (128, 64)
    history: History = "none"
    history_units: int = 32
    policies: Policies = "shared"
    advice: AdviceBy = "none"
    candidates: int = 8
    heads: Heads = "score"
    win_weight: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values for ``agent.json``."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> NetworkConfig:
        """Inverse of :meth:`to_json`; raises TypeError or ValueError on anything else.

        Folders from before there were ``history``, ``policies``, ``advice`` and ``heads`` lack
        them; they get the defaults, which is what those networks were.
        """
        unknown = set(data) - set(asdict(cls()))
        if unknown:
            raise ValueError(f"unknown network option {sorted(unknown)[0]!r}")
        default = cls()
        config = cls(
            hidden=tuple(int(n) for n in data["hidden"]),
            move_hidden=int(data["move_hidden"]),
            value_hidden=tuple(int(n) for n in data["value_hidden"]),
            history=data.get("history", default.history),
            history_units=int(data.get("history_units", default.history_units)),
            policies=data.get("policies", default.policies),
            advice=data.get("advice", default.advice),
            candidates=int(data.get("candidates", default.candidates)),
            heads=data.get("heads", default.heads),
            win_weight=float(data.get("win_weight", default.win_weight)),
        )
        units = (config.move_hidden, config.history_units, config.candidates)
        sizes = (*config.hidden, *config.value_hidden, *units)
        if not config.hidden or not config.value_hidden or min(sizes) < 1:
            raise ValueError(f"network sizes must be positive, not {sizes}")
        for name, value, allowed in (
            ("history", config.history, HISTORIES),
            ("policies", config.policies, get_args(Policies)),
            ("advice", config.advice, get_args(AdviceBy)),
            ("heads", config.heads, get_args(Heads)),
        ):
            if value not in allowed:
                raise ValueError(f"network {name} is {value!r}; allowed: {', '.join(allowed)}")
        if not 0 <= config.win_weight < math.inf or (config.win_weight and config.heads != "both"):
            raise ValueError(
                f"network win_weight is {config.win_weight} with heads {config.heads!r}; it should "
                f"be a number from 0 on, and 0 without a win head"
            )
        return config


@dataclass(frozen=True)
class AgentCard:
    """What ``agent.json`` says.

    Attributes:
        game: which game it plays.
        rules: rules string under which the agent was trained.
        action_layout: hash of the action ids.
        observation_layout: hash of the observation.
        network: what the networks are made of.
        weights_sha256: hex digest of ``weights.pt``.
        advice: hash of the advice that the network takes, "" where it takes none.
        role_head_sha256: hex digest of ``role_head.pt``, what the agent guesses of who is guard;
            "" where it comes without.
        idle: ``"pass"``: where only pass, yield or claim are legal the agent passes unasked, as
            it did in training; ``"choose"``: it decides there too.
        temperature: where moves are drawn (``sample``) the network's outputs are divided by it
            before the softmax: 1 for a policy, whose outputs are logits; for values of moves the
            difference, in their own unit, by which one move is e times as likely as another.
        provenance: free JSON values: name, seeds, steps, versions.
    """

    game: str
    rules: str
    action_layout: str
    observation_layout: str
    network: NetworkConfig
    weights_sha256: str
    idle: Idle = "choose"
    temperature: float = 1.0
    advice: str = ""
    role_head_sha256: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def name(self, default: str) -> str:
        """The agent's name, as its training gave it."""
        return str(self.provenance.get("name", default))

    def to_json(self) -> dict[str, Any]:
        """Content of ``agent.json``."""
        return {
            "format": FORMAT,
            "game": self.game,
            "rules": self.rules,
            "action_layout": self.action_layout,
            "observation_layout": self.observation_layout,
            "network": self.network.to_json(),
            "weights_sha256": self.weights_sha256,
            "idle": self.idle,
            "temperature": self.temperature,
            "advice": self.advice,
            **({"role_head_sha256": self.role_head_sha256} if self.role_head_sha256 else {}),
            "provenance": dict(self.provenance),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: object) -> AgentCard:
        """Inverse of :meth:`to_json`.

        Args:
            data: the JSON object.
            where: file that it stands in, for errors.

        Raises:
            CheckpointError: of another format, or with a value that makes no sense.
        """
        if data.get("format") != FORMAT:
            raise CheckpointError(
                f"{where}: format {data.get('format')!r} is not known; this version reads "
                f"{FORMAT!r}"
            )
        texts = {}
        for key in ("game", "rules", "action_layout", "observation_layout", "weights_sha256"):
            if not isinstance(data.get(key), str):
                raise CheckpointError(f"{where}: {key!r} is {data.get(key)!r}; it should be a text")
            texts[key] = data[key]
        if data.get("idle") not in get_args(Idle):
            raise CheckpointError(
                f"{where}: 'idle' is {data.get('idle')!r}; it is 'choose' or 'pass'"
            )
        try:
            network = NetworkConfig.from_json(data["network"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"{where}: 'network' is unusable ({type(error).__name__}: {error}); it should look "
                f"like {json.dumps(NetworkConfig().to_json())}"
            ) from None
        temperature = data.get("temperature", 1.0)  # folders from before there was one have logits
        if type(temperature) not in (int, float) or not 0 < temperature < math.inf:
            raise CheckpointError(
                f"{where}: 'temperature' is {temperature!r}; it should be a number above 0"
            )
        for key in ("advice", "role_head_sha256"):
            texts[key] = data.get(key, "")
            if not isinstance(texts[key], str):
                raise CheckpointError(f"{where}: {key!r} is {data[key]!r}; it should be a text")
        provenance = data.get("provenance")
        return cls(
            network=network,
            idle=data["idle"],
            temperature=float(temperature),
            provenance=provenance if isinstance(provenance, dict) else {},
            **texts,
        )


def read_object(text: str, where: object) -> dict[str, Any]:
    """A JSON object.

    Raises:
        CheckpointError: it is none.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"{where}: not JSON ({error}); copy it again") from None
    if not isinstance(data, dict):
        raise CheckpointError(f"{where}: holds a {type(data).__name__}; it should be an object")
    return data


def advice_of(network: NetworkConfig, engine: Game) -> str:
    """What ``AgentCard.advice`` has to be."""
    return "" if network.advice == "none" else advice_hash(engine.rules, engine.game)


_OTHER_VERSION: Final = "it was trained with another version of lupai: train it again"


def engine_for(card: AgentCard, rules: str | None, where: object) -> Game:
    """The engine that an agent plays on.

    Args:
        card: of the agent.
        rules: rules string it is wanted for; None takes its own.
        where: file of the card, for errors.

    Raises:
        CheckpointError: other rules, or action ids or observations of another version.
    """
    try:
        engine = make_game(card.game, card.rules if rules is None else rules)
    except LupaiError as error:
        raise CheckpointError(f"{where}: {error}") from None
    for key, has, needs, remedy in (
        ("rules", card.rules, str(engine.rules), "it plays only the rules it was trained under"),
        ("action_layout", card.action_layout, engine.actions.hash, _OTHER_VERSION),
        (
            "observation_layout",
            card.observation_layout,
            engine.observation_layout.hash,
            _OTHER_VERSION,
        ),
        ("advice", card.advice, advice_of(card.network, engine), _OTHER_VERSION),
    ):
        if has != needs:
            raise CheckpointError(f"{where}: {key} is {has!r}, needed is {needs!r}; {remedy}")
    return engine
