"""Files of the small networks: float16 layers, with the rules and inputs that they were made for.

``KIND_PRESET.npz`` holds ``rules`` (the rules string), ``layout`` (a hash over names and widths of
the inputs) and the arrays ``w0 [F, H]``, ``b0 [H]``, ``w1`` …: layers with ReLU between them.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from lupai.agents.search.errors import SearchError

F32 = npt.NDArray[np.float32]
Layers = list[tuple[F32, F32]]


def layout_hash(layout: Any) -> str:
    """16 hex digits over a description of inputs."""
    return hashlib.sha256(json.dumps(layout, ensure_ascii=False).encode()).hexdigest()[:16]


def read_network(
    package: str, kind: str, preset: str, layout: Any, inputs: int, outputs: int
) -> Layers | None:
    """Layers that come with a package; None if there are none for the preset.

    Raises:
        SearchError: see :func:`read`.
    """
    entry = resources.files(package).joinpath(f"{kind}_{preset}.npz")
    if not entry.is_file():
        return None
    with resources.as_file(entry) as path:
        return read(path, preset, layout, inputs, outputs)


def read(path: Path, rules: str, layout: Any, inputs: int, outputs: int) -> Layers:
    """Read a file.

    Args:
        rules: rules string that it has to be for.
        layout: description of the inputs.
        inputs, outputs: their numbers.

    Raises:
        SearchError: unreadable, for other rules, or of another layout; names the file.
    """
    try:
        with np.load(path) as file:
            data = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise SearchError(f"network {path}: unreadable: {error}") from None
    found = {name: str(data.pop(name, "missing")) for name in ("rules", "layout")}
    if found != {"rules": rules, "layout": layout_hash(layout)}:
        raise SearchError(
            f"network {path}: made for rules {found['rules']!r} and inputs {found['layout']}, "
            f"needed are {rules!r} and {layout_hash(layout)}; make it anew with tools/fit_"
            f"{path.stem.partition('_')[0]}.py"
        )
    layers, width = [], inputs
    for i in range(len(data) // 2):
        weights, bias = data.get(f"w{i}"), data.get(f"b{i}")
        if weights is None or bias is None or weights.ndim != 2 or bias.shape != weights.shape[1:]:
            break
        if len(weights) != width:
            break
        width = weights.shape[1]
        layers.append((weights.astype(np.float32), bias.astype(np.float32)))
    if 2 * len(layers) != len(data) or not layers or width != outputs:
        raise SearchError(
            f"network {path}: arrays {sorted(data)} are no layers from {inputs} inputs to "
            f"{outputs} outputs"
        )
    return layers


def write(path: Path, layers: Layers, rules: str, layout: Any) -> None:
    """Write a file, weights as float16, atomically."""
    arrays: dict[str, Any] = {"rules": np.array(rules), "layout": np.array(layout_hash(layout))}
    for i, (weights, bias) in enumerate(layers):
        arrays |= {f"w{i}": weights.astype(np.float16), f"b{i}": bias.astype(np.float16)}
    new = path.with_name(f".{path.stem}.new.npz")
    np.savez_compressed(new, **arrays)
    new.replace(path)
