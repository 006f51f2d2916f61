"""The Ray engine: every ensemble is a plain task, on an existing cluster or on one that is started here.

A task takes one device. It loads what the runs are made of, compares the ids of its members with those of the plan, and
writes into the store where it sees it; elsewhere its history travels back. Lost tasks (a worker or node that died) are
begun again by the sweep's own loop, after a pause; in a shared store they go on from their checkpoint.
"""

import importlib
import inspect
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from ..runtime import use_compilation_cache
from ..store.modules import installed
from ..store.spec import modules_of
from .work import Job, Outcome, verified, work

Sources = tuple[tuple[str, str], ...]  # module and text


class Cluster:
    """Tasks on Ray; `resources` of each as Ray names them, default one GPU where there are any, else one CPU."""

    def __init__(self, address: str | None = None, resources: Mapping[str, float] | None = None):
        try:
            import ray  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise SpecError("the engine ray needs Ray, which is missing; install sorites[ray], or use local") from None
        self._ray, self._mine = ray, not ray.is_initialized()
        if self._mine:
            try:
                ray.init(address=address, include_dashboard=False if address is None else None, log_to_driver=False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise SpecError(
                    f"no Ray cluster answers at address={address!r} ({error}); start one, or leave it out"
                ) from None
        self._take = dict(resources or ({"num_gpus": 1} if ray.cluster_resources().get("GPU") else {"num_cpus": 1}))
        known = {"num_cpus": "CPU", "num_gpus": "GPU"}
        self._asked = {known.get(name, name): amount for name, amount in self._take.items() if amount}
        require(bool(self._asked), f"a task takes a device or a part of one: {self._take}; use num_cpus or num_gpus")
        named = {name: amount for name, amount in self._take.items() if name not in known}
        options: Any = {name: amount for name, amount in self._take.items() if name in known}
        options |= {"resources": named} if named else {}
        self._task = ray.remote(max_retries=0, **options)(labour)
        require(self.size > 0, f"a cluster has what a task takes: {self._take}; it has {ray.cluster_resources()}")

    @property
    def size(self) -> int:
        """Nodes come and go."""
        there = self._ray.cluster_resources()
        return int(min(there.get(name, 0) // amount for name, amount in self._asked.items()))

    def begin(self, job: Job) -> Any:
        return self._task.remote(self._ray.cloudpickle.dumps(job), sources_of(job))

    def finished(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        return self._ray.wait(list(handles), timeout=seconds)[0] if handles else []

    def outcome(self, handle: Any) -> Outcome:
        try:
            return self._ray.get(handle)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None

    def lost(self, error: Exception) -> bool:
        errors = self._ray.exceptions
        return isinstance(error, errors.RayError) and not isinstance(error, errors.RayTaskError)

    def close(self) -> None:
        if self._mine:
            self._ray.shutdown()


def labour(packed: bytes, sources: Sources) -> Outcome:
    """What a worker does; `packed` is this cluster's own transport, nothing that was stored."""
    import ray  # pyright: ignore[reportMissingImports]

    use_compilation_cache()
    for name, text in sources:
        _provide(name, text)
    return work(verified(ray.cloudpickle.loads(packed)), progress=False)


def sources_of(job: Job) -> Sources:
    """The single files of one's own that the runs come from: a worker elsewhere does not have them."""
    found = []
    for name in sorted(modules_of(job.runs)):
        module = sys.modules.get(name)
        path = Path(getattr(module, "__file__", None) or "")
        own = "." not in name and name not in {"__main__", *sys.stdlib_module_names} and path.suffix == ".py"
        if own and not installed(name, path):
            found.append((name, path.read_text()))
    return tuple(found)


def _provide(name: str, text: str) -> None:
    try:
        if inspect.getsource(importlib.import_module(name)) == text:
            return
    except (ImportError, OSError, TypeError):
        pass
    folder = tempfile.mkdtemp(prefix="sorites-")
    Path(folder, f"{name}.py").write_text(text)
    sys.path.insert(0, folder)
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    importlib.import_module(name)
