"""Attention entropy of pretrained language models on question-answer texts, layer by layer (wen, Section 4.3).

Needs torch and transformers (`pip install 'sorites[llm]'`), a folder with weights and tokenizer, and a file of problems
with `question` and `answer` in JSON lines. Nothing is downloaded. Every attention map is reduced as soon as it is made.
"""

import functools
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import SpecError, require

MODES = ("cot", "none", "cut", "random")


def problems(path: str | Path, limit: int | None = None) -> list[dict[str, str]]:
    """Questions and answers, one JSON object per line."""
    path = Path(path)
    require(limit is None or limit >= 1, f"a limit leaves a problem or more: limit={limit}; use 1 or more")
    require(path.is_file(), f"problems are a file of JSON lines: {path}; give one with 'question' and 'answer'")
    found = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            found.append({"question": str(row["question"]), "answer": str(row["answer"])})
        except (ValueError, KeyError, TypeError):
            raise SpecError(f"every line has a question and an answer: line {number} of {path}; mend it") from None
    require(len(found) > 0, f"problems are needed: {path} is empty; give at least one")
    return found[:limit]


def final_answer(answer: str) -> str:
    """What follows ####, commas removed: 1,200 stays 1200 and does not become 200."""
    return answer.rsplit("####", 1)[-1].strip().replace(",", "")


def texts(problem: dict[str, str], mode: str) -> tuple[str, str]:
    """The question and what follows it: the worked answer, or the bare result. `cut` and `random` are controls of the
    length: the worked answer truncated to the bare result's tokens, and shuffled words as long as the worked answer."""
    question, answer = problem["question"], problem["answer"]
    if mode == "none":
        return question, f" The answer is {final_answer(answer)}."
    if mode == "random":
        words = answer.split()
        np.random.default_rng(len(words)).shuffle(words)
        answer = " ".join(words)
    return question, " " + answer


def entropies(
    folder: str | Path, rows: list[dict[str, str]], mode: str = "cot", tokens: str = "all", reduce: str = "min"
) -> Float[np.ndarray, "layer head"]:
    """Mean over the problems of min (or mean) over tokens i >= 2 of H(P[i]) / log i, for every layer and head."""
    require(mode in MODES, f"a text is one of {', '.join(MODES)}: mode={mode!r}; use one of these")
    require(tokens in ("all", "answer"), f"tokens are all or answer: tokens={tokens!r}; use one of the two")
    require(reduce in ("min", "mean"), f"a reduction is min or mean: reduce={reduce!r}; use one of the two")
    model, tokenizer = _load(Path(folder))
    torch = _library("torch")
    total, device = None, next(model.parameters()).device
    for problem in rows:
        question, answer = texts(problem, mode)
        first = tokenizer(question)["input_ids"]
        rest = tokenizer(answer, add_special_tokens=False)["input_ids"]
        if mode == "cut":
            rest = rest[: len(tokenizer(texts(problem, "none")[1], add_special_tokens=False)["input_ids"])]
        ids = torch.tensor([[*first, *rest]], device=device)
        start = max(len(first) if tokens == "answer" else 1, 1)
        found = _layers(model, ids, lambda attention, start=start: _reduced(attention, start, reduce))
        total = found if total is None else total + found
    require(total is not None, "entropies need a problem or more: rows=[]; give at least one")
    return total / len(rows)  # pyright: ignore[reportOptionalOperand]


def _layers(model: Any, ids: Any, reduced: Callable[[Any], np.ndarray]) -> Float[np.ndarray, "layer head"]:
    """Every layer's attention, reduced while the forward pass is there: memory does not grow with the layers."""
    found = []

    def hook(module, inputs, output):
        weights = output[1] if isinstance(output, tuple) and len(output) > 1 else None
        if weights is not None and weights.ndim == 4:
            found.append(reduced(weights[0]))

    attentive = [module for module in model.modules() if type(module).__name__.endswith("Attention")]
    handles = [module.register_forward_hook(hook) for module in attentive]
    try:
        with _library("torch").no_grad():
            model(input_ids=ids, use_cache=False)
    finally:
        for handle in handles:
            handle.remove()
    require(len(found) > 0, f"a model shows its attention maps: {type(model).__name__} does not; use another")
    return np.stack(found)


def _reduced(attention: Any, start: int, reduce: str) -> Float[np.ndarray, " head"]:
    """One layer's maps [head, query, source] to a number per head."""
    torch = _library("torch")
    share = attention.float()[:, start:]
    entropy = -torch.xlogy(share, share).sum(-1)
    log = torch.log(torch.arange(start + 1, attention.shape[1] + 1, device=share.device).float())
    ratio = entropy / log
    return (ratio.min(-1).values if reduce == "min" else ratio.mean(-1)).cpu().numpy()


def _library(name: str) -> Any:
    """Imported by name: neither a training nor a type check needs them."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise SpecError(f"pretrained models need {name}, which is missing; pip install 'sorites[llm]'") from None


@functools.lru_cache(maxsize=1)
def _load(folder: Path):
    """Model and tokenizer of a local folder, with attention that returns its weights; the last one stays loaded."""
    torch, transformers = _library("torch"), _library("transformers")
    require((folder / "config.json").is_file(), f"a model is a local folder with config.json: {folder}; give one")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, attn_implementation="eager", dtype="auto"
        )
    except (OSError, ValueError, ImportError) as error:
        raise SpecError(f"{folder} cannot be read as a language model ({str(error).splitlines()[0]})") from None
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer
