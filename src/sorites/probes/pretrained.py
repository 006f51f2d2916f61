"""Attention entropy of pretrained language models, layer by layer (wen, Section 4.3).

Needs torch and transformers (`pip install 'sorites[llm]'`) and folders with safetensors and a tokenizer. Nothing is
downloaded, nothing is unpickled. Every attention map is reduced as soon as it is made: memory does not grow with depth.
"""

import contextlib
import ctypes
import dataclasses
import functools
import hashlib
import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from ..errors import SpecError, require
from ..tasks.rows import Skipped
from .problems import MODES, Problem, continuation, problems

KINDS = ("entropy", "entropy_mean", "entropy_answer", "entropy_answer_mean")  # as `head_entropies` has them
BLOCK = 25  # problems between two savings
MMAP_THRESHOLD, WHERE_IT_STARTS = -3, 128 * 1024  # glibc's <malloc.h>: M_MMAP_THRESHOLD, and its default in bytes
FILES = ("*.safetensors", "*.json", "*.model", "merges.txt", "vocab.txt")
Entropies = Float[np.ndarray, "problem kind layer head"]


@dataclasses.dataclass(frozen=True)
class Passage:
    """Some problems in one mode, read by one model."""

    folder: str
    weights: str  # what the folder held
    mode: str
    problems: UInt8[np.ndarray, " byte"]  # as JSON: a store names large arrays by their hash

    def rows(self) -> list[Problem]:
        return [Problem(*row) for row in json.loads(self.problems.tobytes())]


def entropies(
    folder: str | Path, rows: Sequence[Problem], mode: str, lab: Any, listener: Callable[[int], None] | None = None
) -> Entropies:
    """For every problem, layer and head: H(P[i]) / log i over tokens i >= 2, least and mean, of all tokens and of the
    answer's. lab: where finished blocks are kept and found again."""
    require(mode in MODES, f"a text is one of {', '.join(MODES)}: text={mode!r}; use one of these")
    require(len(rows) > 0, "entropies need a problem or more: none is left; give at least one")
    place = Path(folder).resolve()
    known, found = weights_hash(place), []
    for start in range(0, len(rows), BLOCK):
        text = json.dumps(rows[start : start + BLOCK]).encode()
        passage = Passage(str(place), known, mode, np.frombuffer(text, np.uint8))
        found.append(lab.keep(passage, read_passage)["entropies"])
        if listener is not None:
            listener(min(start + BLOCK, len(rows)))
    return np.concatenate(found)


def read_passage(passage: Passage) -> dict[str, np.ndarray]:
    """The numbers of one block."""
    model = _model(Path(passage.folder))
    found = []
    for problem in passage.rows():
        ids, first = tokens_of(passage.folder, problem, passage.mode)
        found.append(_layers(model, ids, first))
    return {"entropies": np.stack(found).astype(np.float32)}


def tokens_of(folder: str | Path, problem: Problem, mode: str) -> tuple[list[int], int]:
    """The tokens that a model reads, and the place of the answer's first."""
    tokenizer = _tokenizer(Path(folder))

    def tail(mode: str) -> list[int]:
        return list(tokenizer(continuation(problem, mode), add_special_tokens=False)["input_ids"])

    first, rest = list(tokenizer(problem.question)["input_ids"]), tail("none" if mode == "none" else "cot")
    drawn = np.random.default_rng(problem.line)
    if mode == "cut":
        rest = rest[: len(tail("none"))]
    elif mode == "shuffled":
        rest = [rest[place] for place in drawn.permutation(len(rest))]
    elif mode == "random":
        rest = drawn.choice(_ordinary(Path(folder)), len(rest)).tolist()
    return [*first, *rest], len(first)


def unfit(folder: str | Path, rows: Sequence[Problem], modes: Sequence[str]) -> dict[int, str]:
    """The problems that a model has no room for, by line, and why; its weights are not loaded."""
    config = _config(Path(folder))
    room = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 2**62
    found = {}
    for problem in rows:
        lengths = [len(tokens_of(folder, problem, mode)[0]) for mode in modes]
        if max(lengths) > room:
            found[problem.line] = f"it has {max(lengths):,} tokens, {Path(folder).name} has room for {room:,}"
        elif min(lengths) < 2:
            found[problem.line] = "it has fewer than two tokens"
    return found


def shared_problems(
    data: str | Path, folders: Sequence[str | Path], modes: Sequence[str], limit: int | None = None
) -> tuple[list[Problem], list[Skipped]]:
    """The problems that every model has room for, so that all are measured on the same ones; and the other rows."""
    rows, skipped = problems(data, limit)
    for folder in folders:
        large = unfit(folder, rows, modes)
        skipped += [Skipped(line, why) for line, why in large.items()]
        rows = [row for row in rows if row.line not in large]
    require(len(rows) > 0, f"a problem or more fits every model: {data} has none; give shorter ones")
    return rows, sorted(skipped)


def _layers(model: Any, ids: list[int], first: int) -> Float[np.ndarray, "kind layer head"]:
    """Every layer's attention, reduced while the forward pass is there; the head over the vocabulary is not asked."""
    torch, found = _library("torch"), []

    def hook(module, inputs, output):
        weights = output[1] if isinstance(output, tuple) and len(output) > 1 else None
        if weights is not None and weights.ndim == 4:
            found.append(np.stack([_reduced(head, first) for head in weights[0]], axis=-1))

    attentive = [module for module in model.modules() if type(module).__name__.endswith("Attention")]
    handles = [module.register_forward_hook(hook) for module in attentive]
    try:
        with torch.no_grad():
            device = next(model.parameters()).device
            model.base_model(input_ids=torch.tensor([ids], device=device), use_cache=False)
    finally:
        for handle in handles:
            handle.remove()
    require(len(found) > 0, f"a model shows its attention maps: {type(model).__name__} does not; use another")
    return np.stack(found, axis=1)


def _reduced(attention: Any, first: int) -> Float[np.ndarray, " kind"]:
    """One head's map [query, source] to four numbers, in float64: sums over hundreds of sources."""
    torch = _library("torch")
    fraction = attention[1:].double()
    ratio = (
        -torch.xlogy(fraction, fraction).sum(-1)
        / torch.arange(2, len(attention) + 1, device=fraction.device).double().log()
    )
    answer = ratio[max(first, 1) - 1 :]
    return torch.stack([ratio.min(), ratio.mean(), answer.min(), answer.mean()]).cpu().numpy()


def weights_hash(folder: Path) -> str:
    """What a model's folder holds, file by file: other weights under the same name are another model."""
    _config(folder)
    return _hashed(*map(_stamp, sorted({path for pattern in FILES for path in folder.glob(pattern)})))


def file_hash(path: str | Path) -> str:
    """What a file holds."""
    require(Path(path).is_file(), f"problems are a file of JSON lines or Parquet: {path} is none; check the path")
    return _hashed(_stamp(Path(path)))


def _stamp(path: Path) -> tuple[str, int, int]:
    return str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns


@functools.lru_cache(maxsize=16)
def _hashed(*files: tuple[str, int, int]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in files:
        with open(path, "rb") as file:
            digest.update(Path(path).name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _library(name: str) -> Any:
    """Imported by name: neither a training nor a type check needs them."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise SpecError(f"pretrained models need {name}, which is missing; pip install 'sorites[llm]'") from None


def _opened(folder: Path, what: str, **choices: Any) -> Any:
    require((folder / "config.json").is_file(), f"a model is a local folder with config.json: {folder}; give one")
    transformers = _library("transformers")
    transformers.utils.logging.disable_progress_bar()  # standard error has ours
    try:
        return getattr(transformers, what).from_pretrained(folder, local_files_only=True, **choices)
    except (OSError, ValueError, ImportError, KeyError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise SpecError(f"{folder} cannot be read as a language model ({reason}); give another folder") from None


@functools.lru_cache(maxsize=16)
def _config(folder: Path) -> Any:
    return _opened(folder, "AutoConfig")


@functools.lru_cache(maxsize=16)
def _tokenizer(folder: Path) -> Any:
    return _opened(folder, "AutoTokenizer")


@functools.lru_cache(maxsize=16)
def _ordinary(folder: Path) -> np.ndarray:
    """The tokens that stand for text."""
    tokenizer = _tokenizer(folder)
    return np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)


@functools.lru_cache(maxsize=1)
def _model(folder: Path) -> Any:
    """With attention that returns its weights; the last one stays loaded."""
    _give_back_what_is_freed()
    model = _opened(folder, "AutoModelForCausalLM", attn_implementation="eager", dtype="auto", use_safetensors=True)
    return model.to("cuda" if _library("torch").cuda.is_available() else "cpu").eval()


def _give_back_what_is_freed() -> None:
    """glibc maps a large block by itself and unmaps it when it is freed, but counts as large only what exceeds all
    blocks freed before: attention maps soon lie in its heap, in whose gaps the next ones do not fit, and the process
    holds about twice what the model uses. A threshold that is set stays. Other allocators have none to set."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, WHERE_IT_STARTS)
