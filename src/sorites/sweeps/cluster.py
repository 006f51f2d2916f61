"""The Ray engine: every ensemble is a plain task, on an existing cluster or on one that is started here.

A task takes one device. It loads what the runs are made of, compares the ids of its members with those of the plan, and
writes into the store where it sees it; elsewhere its history travels back. Lost tasks (a worker or node that died) are
begun again by the sweep's own loop, after a pause; in a shared store they go on from their checkpoint.
"""

import importlib
import inspect
import os
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from ..runtime import use_compilation_cache
from ..store.modules import installed
from ..store.spec import modules_of
from .work import Job, Outcome, verified, work

Sources = tuple[tuple[str, str], ...]  # module and text
LOOPBACK = ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # the only setting of Ray by which all its servers bind 127.0.0.1
CONNECT = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False)"
PATIENCE = 30.0  # seconds for a first answer of a cluster
TRIES, WAIT = 3, 4.0  # attempts to reach a silent node, and seconds for each


class Cluster:
    """Tasks on Ray; `resources` of each as Ray names them, default one GPU where there are any, else one CPU."""

    def __init__(self, address: str | None = None, resources: Mapping[str, float] | None = None):
        address = address or os.environ.get("RAY_ADDRESS")
        try:
            ray = _import_ray(loopback=address is None)
        except ImportError:
            raise SpecError("the engine ray needs Ray, which is missing; install sorites[ray], or use local") from None
        self._ray, self._mine = ray, not ray.is_initialized()
        if self._mine and address is not None:
            _require_answer(address)
            ray.init(address=address, log_to_driver=False)
        elif self._mine:
            require(
                ray.util.get_node_ip_address() == "127.0.0.1",
                "Ray was imported before the sweep started it, so it would listen on every network interface; set "
                f"{LOOPBACK[0]}={LOOPBACK[1]} in the environment of Python, or give the address of a cluster",
            )
            with _forking():
                ray.init(address="local", include_dashboard=False, log_to_driver=False)
        self._servers = _servers(ray)
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
        self._require_alive()
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

    def _require_alive(self) -> None:
        """Ray itself waits for minutes when the raylet of this node or the head's GCS server has died."""
        silent: list[Server] = []
        for _ in range(TRIES):
            silent = [server for server in self._servers if not _answers(server)]
            if not silent:
                return
            time.sleep(1)
        where = ", ".join(f"{name} at {host}:{port}" for name, host, port in silent)
        raise SpecError(
            f"a sweep on Ray needs a cluster that answers: no answer from {where}; start the cluster and the sweep "
            "again; with a store, finished members are kept"
        )


Server = tuple[str, str, int]  # name, host, port


def _import_ray(loopback: bool) -> Any:
    """Ray decides when it is imported whether its servers bind loopback; the environment stays as it is."""
    name, value = LOOPBACK
    before = os.environ.get(name)
    if loopback:
        os.environ.setdefault(name, value)
    try:
        import ray  # pyright: ignore[reportMissingImports]
    finally:
        if before is None:
            os.environ.pop(name, None)
    return ray


@contextmanager
def _forking() -> Iterator[None]:
    """Ray forks to start its servers, which run no JAX: the warning of JAX does not concern the user."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        yield


def _require_answer(address: str) -> None:
    """Connect once in another process: Ray retries for minutes and writes its log to the terminal."""
    words = [sys.executable, "-c", CONNECT, address]
    said = "no answer"
    try:
        environment = os.environ | {"RAY_NUM_REDIS_GET_RETRIES": "1"}
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=PATIENCE, env=environment, check=False
        )
        if done.returncode == 0:
            return
        said = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        refused = "AuthenticationError" in done.stderr
    except subprocess.TimeoutExpired:
        refused = False
    if refused:
        mode = os.environ.get("RAY_AUTH_MODE", "unset")
        raise SpecError(
            f"the Ray cluster at address={address!r} refuses this process's token (RAY_AUTH_MODE is {mode} here): both "
            "sides need the same mode and token; set RAY_AUTH_MODE=token here and copy the head's ~/.ray/auth_token to "
            "this machine, or set RAY_AUTH_MODE=disabled on both sides of a network that you trust"
        )
    raise SpecError(f"no Ray cluster answers at address={address!r} ({said}); start one, or leave the address out")


def _servers(ray: Any) -> list[Server]:
    """The servers without which this process cannot go on, as far as they can be reached from here."""
    context = ray.get_runtime_context()
    here = next((node for node in ray.nodes() if node["NodeID"] == context.get_node_id()), None)
    host, _, port = context.gcs_address.rpartition(":")
    servers: list[Server] = [("the GCS server", host.strip("[]"), int(port))]
    if here is not None:
        servers.append(("the raylet", here["NodeManagerAddress"], here["NodeManagerPort"]))
    return [server for server in servers if _answers(server)]


def _answers(server: Server) -> bool:
    try:
        socket.create_connection(server[1:], timeout=WAIT).close()
    except OSError:
        return False
    return True


def labour(packed: bytes, sources: Sources) -> Outcome:
    """What a worker does; `packed` is this cluster's own transport, nothing that was stored."""
    import ray  # pyright: ignore[reportMissingImports]

    use_compilation_cache()
    for name, text in sources:
        _provide(name, text)
    return work(verified(ray.cloudpickle.loads(packed)), progress=False)  # pyright: ignore[reportAttributeAccessIssue]


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
