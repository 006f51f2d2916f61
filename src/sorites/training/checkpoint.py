"""The state of a running ensemble on disk, so that a killed training can resume.

One .npz, written atomically, with numpy alone. `identity` names runs, seeds and code (`sorites.checkpoint` makes it).
A file with another identity is not read. A resumed training equals an uninterrupted one.
"""

import json
import time
import warnings
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..atomic import atomic_write
from .state import EnsembleState

EVERY = 60.0  # seconds between two writes, at least
SHARE = 20  # and this many times as long as a write takes


class Checkpoint:
    """The file of one ensemble."""

    def __init__(self, path: str | Path, identity: str, every: float | None = None):
        self.path, self.identity = Path(path), identity
        self.every = EVERY if every is None else every
        self._due = time.monotonic() + self.every

    def of(self, *setting: Any) -> "Checkpoint":
        """Return a checkpoint in the same file whose identity includes these settings of `train`."""
        return Checkpoint(self.path, f"{self.identity} {setting}", self.every)

    def note(self, state: EnsembleState) -> None:
        """Write the state, if the last write was long enough ago; a full disk gives a warning."""
        begun = time.monotonic()
        if begun < self._due:
            return
        arrays = {"active": state.active, "samples": state.samples}
        arrays |= _named("members", state.members)
        for step, models in state.snapshots.items():
            arrays |= _named(f"snapshots/{step}", models)
        for index, (_, steps, found) in enumerate(state.records):
            arrays[f"steps/{index}"] = steps
            arrays |= {f"found/{index}/{name}": values for name, values in found.items()}
        about = {
            "identity": self.identity,
            "stage": state.stage,
            "evaluations": state.evaluations,
            "snapshots": list(state.snapshots),
            "records": [number for number, _, _ in state.records],
            "metrics": list(state.records[0][2]),
        }
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
        try:
            with atomic_write(self.path, sync=True) as draft, draft.open("wb") as file:
                np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]
        except OSError as error:  # a full disk must not end the training
            warnings.warn(f"no checkpoint: {self.path} cannot be written ({error.strerror})", stacklevel=2)
        now = time.monotonic()
        self._due = now + (max(self.every, SHARE * (now - begun)) if self.every else 0)

    def about(self) -> dict[str, Any] | None:
        """Return what the file says about its state; None without a file, for another identity, or if it is damaged."""
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                about = json.loads(arrays["about"].tobytes())
        except FileNotFoundError:
            return None
        except Exception:  # a spoilt zip fails in a dozen ways, by the bit
            warnings.warn(f"{self.path} is damaged: the training begins anew", stacklevel=3)
            return None
        return about if about.get("identity") == self.identity else None

    def read(self, about: dict[str, Any], structure: Any) -> EnsembleState | None:
        """Read the state into a structure of shapes; None if the file is damaged."""
        metrics = about["metrics"]
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                records = tuple(
                    (number, arrays[f"steps/{index}"], {name: arrays[f"found/{index}/{name}"] for name in metrics})
                    for index, number in enumerate(about["records"])
                )
                return EnsembleState(
                    stage=about["stage"],
                    evaluations=about["evaluations"],
                    members=_filled("members", structure, arrays),
                    active=arrays["active"],
                    records=records,
                    samples=arrays["samples"],
                    snapshots={
                        step: _filled(f"snapshots/{step}", structure.model, arrays) for step in about["snapshots"]
                    },
                )
        except Exception:
            warnings.warn(f"{self.path} is damaged: the training begins anew", stacklevel=3)
            return None

    def drop(self) -> None:
        """Delete the file, and drafts that a kill left."""
        for path in (self.path, *self.path.parent.glob(f"{self.path.name}.*")):
            path.unlink(missing_ok=True)


def _named(under: str, tree: Any) -> dict[str, np.ndarray]:
    leaves = jax.tree.leaves(eqx.filter(tree, eqx.is_array))
    return {f"{under}/{index}": np.asarray(_plain(leaf)) for index, leaf in enumerate(leaves)}


def _plain(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def _filled(under: str, structure: Any, arrays: Any) -> Any:
    shapes, rest = eqx.partition(structure, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    leaves, tree = jax.tree.flatten(shapes)
    found = [_restored(arrays[f"{under}/{index}"], shape) for index, shape in enumerate(leaves)]
    return eqx.combine(jax.tree.unflatten(tree, found), rest)


def _restored(values: np.ndarray, shape: Any) -> jax.Array:
    if jnp.issubdtype(shape.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(values))
    values = values.view(shape.dtype) if values.dtype.kind == "V" else values  # numpy has no bfloat16
    if values.shape != shape.shape or values.dtype != shape.dtype:
        raise ValueError("not the arrays of this ensemble")
    return jnp.array(values)  # a copy: the program reuses the memory of what it is given
