"""A GPT as a Hugging Face folder (config.json, model.safetensors, tokenizer.json) and back; torch is not needed.

Both keep maps as (source, target), so every tensor is the same numbers under another name. What GPT-2 has no word for
stands under "sorites" in config.json, which `save_pretrained` keeps: alphabet, start token, a hidden thought's pad.
"""

import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..atomic import atomic_folder
from ..errors import SpecError, require
from ..tasks import AbstractTask, Alphabet
from ..tasks.text import HIDDEN, SEPARATOR
from .base import AbstractModel
from .gpt import GPT
from .network import EPSILON, TYPES, Architecture, Network, network

LINEARS = {"attn.c_attn": "project", "attn.c_proj": "out", "mlp.c_fc": "up", "mlp.c_proj": "down"}
NORMS = {"ln_1": "first", "ln_2": "second"}
SAME = {  # what config.json says wherever the computation is ours
    "model_type": ("gpt2",), "activation_function": ("gelu_new", "gelu_pytorch_tanh"), "layer_norm_epsilon": (EPSILON,),
    "scale_attn_weights": (True,), "scale_attn_by_inverse_layer_idx": (False,), "tie_word_embeddings": (True,),
    "add_cross_attention": (False,),
}  # fmt: skip


def to_hf(model: AbstractModel, folder: str | Path, words: tuple[str, ...] | None = None, pad: bool = False) -> Path:
    """Write a folder that `AutoModelForCausalLM` and `AutoTokenizer` open.

    words: of the tokens, `task.words`; their numbers by default. pad: write what a hidden thought embeds to as one more
    token, "_", with a logit of its own; the other logits stay the same.
    """
    if not isinstance(model, GPT):
        raise SpecError(f"only a GPT becomes a Hugging Face folder: {type(model).__name__}; train a gpt")
    folder, vocab = Path(folder), model.alphabet.vocab
    require(not folder.exists(), f"an export makes a new folder: {folder} exists; choose another path")
    words = words or tuple(map(str, range(vocab)))
    require(len(set(words)) == vocab, f"every token has a word of its own: {len(set(words))} of {vocab}; rename some")
    tensors = {name: np.asarray(leaf) for name, leaf in _named(model.net).items()}
    if pad:
        tokens = tensors["transformer.wte.weight"]
        tensors["transformer.wte.weight"] = np.concatenate([tokens, np.asarray(model.pad)[None]])
    from safetensors.numpy import save_file

    files = {
        "config.json": _config(model, pad),
        "generation_config.json": _generation(vocab, pad),
        "tokenizer.json": _tokenizer(model, words, pad),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": len(model.net.positions),
        },
    }
    try:
        with atomic_folder(folder) as draft:
            save_file(tensors, draft / "model.safetensors", metadata={"format": "pt"})
            for name, value in files.items():
                (draft / name).write_text(json.dumps(value, indent=1) + "\n")
    except OSError as error:
        raise SpecError(f"an export makes a folder: {folder} ({error.strerror}); choose another path") from None
    return folder


def from_hf(folder: str | Path, task: AbstractTask | None = None) -> GPT:
    """The GPT in a Hugging Face folder of a GPT-2: one that `sorites export` wrote, or any other.

    task: whose chains it reads, where the folder does not say it; a model of n tokens reads n classes otherwise.
    """
    config, tensors = _read(Path(folder))
    known = config.get("sorites") or {}
    for name in ("wte.weight", "wpe.weight"):
        require(name in tensors, f"{folder} holds a GPT-2: {name} is not there; give another folder")
    vocab, width = tensors["wte.weight"].shape
    padded = bool(known.get("pad_token", False))
    if task is not None:
        alphabet, start = task.alphabet, known.get("start", task.alphabet.signs)
        require(
            alphabet.vocab == vocab - padded,
            f"a model reads its own alphabet: {folder} has {vocab - padded} tokens, the task {alphabet.vocab}; give "
            "the task that it was trained on",
        )
    else:
        values = known.get("values")
        alphabet = Alphabet(vocab - padded, known.get("signs", False), values and (int(values[0]), int(values[1])))
        start = known.get("start", False)
    kept = "bfloat16" if tensors["wte.weight"].dtype == jnp.bfloat16 else "float32"
    architecture = Architecture(
        config.get("n_layer", 12), config.get("n_head", 12), width, config.get("n_inner") or 4 * width,
        config.get("resid_pdrop", 0.0), kept, known.get("compute", "float32"), config.get("initializer_range", 0.02),
    )  # fmt: skip
    pad = tensors["wte.weight"][-1] if padded else np.asarray(known.get("pad", np.zeros(width)))
    tensors["wte.weight"] = tensors["wte.weight"][: vocab - padded]
    shape = eqx.filter_eval_shape(
        lambda: network(architecture, len(tensors["wpe.weight"]), jax.random.key(0), alphabet.vocab)
    )
    return GPT(
        _filled(shape, tensors, Path(folder)), jnp.asarray(pad, TYPES[kept]), alphabet, bool(start), pretrained=True
    )


def _named(net: Network) -> dict[str, Any]:
    """Our parts under Hugging Face's names."""
    parts = {"wte.weight": net.tokens, "wpe.weight": net.positions}
    parts |= {"ln_f.weight": net.final.scale, "ln_f.bias": net.final.shift}
    for number, block in enumerate(net.blocks):
        for theirs, ours in NORMS.items():
            norm = getattr(block, ours)
            parts |= {f"h.{number}.{theirs}.weight": norm.scale, f"h.{number}.{theirs}.bias": norm.shift}
        for theirs, ours in LINEARS.items():
            linear = getattr(block, ours)
            parts |= {f"h.{number}.{theirs}.weight": linear.weight, f"h.{number}.{theirs}.bias": linear.bias}
    return {f"transformer.{name}": leaf for name, leaf in parts.items()}


def _filled(shape: Network, tensors: dict[str, np.ndarray], folder: Path) -> Network:
    """The network of that shape with these tensors."""
    names = [name.removeprefix("transformer.") for name in _named(shape)]
    for name, leaf in zip(names, _named(shape).values(), strict=True):
        found = tensors[name].shape if name in tensors else "nothing"
        require(found == leaf.shape, f"{folder} holds a GPT-2: {name} should be {leaf.shape}, is {found}; mend it")
    leaves = [jnp.asarray(tensors[name], leaf.dtype) for name, leaf in zip(names, _named(shape).values(), strict=True)]
    return eqx.tree_at(lambda net: list(_named(net).values()), shape, leaves)


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """config.json, and the tensors without the prefix that only some folders have; several files where there are."""
    from safetensors import SafetensorError, deserialize

    try:
        config = json.loads((folder / "config.json").read_text())
        index = folder / "model.safetensors.index.json"
        names = set(json.loads(index.read_text())["weight_map"].values()) if index.is_file() else {"model.safetensors"}
        stored = [each for name in sorted(names) for each in deserialize((folder / name).read_bytes())]
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise SpecError(
            f"a Hugging Face folder has config.json and model.safetensors: {folder} ({error}); give another"
        ) from None
    for name, values in SAME.items():
        found = config.get(name, values[0])
        require(found in values, f"our GPT computes {name}={values[0]!r}: {folder} says {found!r}; give a plain GPT-2")
    types = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": jnp.bfloat16}
    return config, {
        name.removeprefix("transformer."): np.frombuffer(tensor["data"], types[tensor["dtype"]]).reshape(
            tensor["shape"]
        )
        for name, tensor in stored
        if tensor["dtype"] in types  # old folders keep their causal masks, which are no weights
    }


def _config(model: GPT, pad: bool) -> dict[str, Any]:
    net, alphabet = model.net, model.alphabet
    sizes = net.architecture
    own = {
        "signs": alphabet.signs, "start": model.start, "compute": sizes.compute,
        "values": None if alphabet.values is None else list(alphabet.values), "pad_token": pad,
    }  # fmt: skip
    own |= {} if pad else {"pad": np.asarray(model.pad, np.float64).tolist()}
    return {
        "architectures": ["GPT2LMHeadModel"], **{name: values[0] for name, values in SAME.items()},
        "vocab_size": alphabet.vocab + pad, "n_positions": len(net.positions), "n_embd": sizes.width,
        "n_layer": sizes.layers, "n_head": sizes.heads, "n_inner": sizes.hidden, "initializer_range": sizes.spread,
        **dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), sizes.dropout), "dtype": sizes.weights,
        "bos_token_id": None, "eos_token_id": None, "sorites": own,
    }  # fmt: skip


def _generation(vocab: int, pad: bool) -> dict[str, Any]:
    """Greedy, as a rollout here; the pad is read and never said."""
    base = {"bos_token_id": None, "eos_token_id": None, "do_sample": False}
    return base | ({"suppress_tokens": [vocab]} if pad else {})


def _tokenizer(model: GPT, words: tuple[str, ...], pad: bool) -> dict[str, Any]:
    """Words between spaces. The colon between inputs and thoughts is the start token, token 0, or nothing."""
    vocab = {word: number for number, word in enumerate((*words, HIDDEN) if pad else words)}
    mark = {"type": "Replace", "pattern": {"String": SEPARATOR}, "content": words[0] if model.start else ""}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": mark,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "?"},
    }  # fmt: skip
