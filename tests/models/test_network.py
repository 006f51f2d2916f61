"""Our network equals Hugging Face's GPT-2, and the reduced one equals ours."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.network import PRESETS, Architecture, network


def scattered(architecture, positions, scale=0.3, dtype=jnp.float32):
    """Weights large enough that every part matters, biases included."""
    model = network(architecture, positions, jax.random.key(0))
    leaves, tree = jax.tree.flatten(model)
    keys = jax.random.split(jax.random.key(1), len(leaves))
    drawn = [leaf.astype(dtype) + scale * jax.random.normal(key, leaf.shape, dtype)
             for key, leaf in zip(keys, leaves, strict=True)]  # fmt: skip
    return jax.tree.unflatten(tree, drawn)


def cross_entropy(logits, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], axis=-1).mean()


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 3), (3, 4)])
def test_equals_hugging_face(layers, heads):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    architecture = Architecture(layers, heads, 24, 40)
    model = scattered(architecture, 11)
    config = transformers.GPT2Config(
        vocab_size=2, n_positions=11, n_embd=24, n_layer=layers, n_head=heads, n_inner=40, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=1, attn_implementation="eager",
    )  # fmt: skip
    theirs = transformers.GPT2LMHeadModel(config)
    names = named(model)
    state = {name: torch.tensor(np.asarray(leaf)) for name, leaf in names.items()}
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert set(missing) == {"lm_head.weight"}
    assert not unexpected
    tokens = np.asarray(jax.random.bernoulli(jax.random.key(2), 0.5, (5, 11)), np.int64)
    output = theirs(input_ids=torch.tensor(tokens[:, :-1]))
    loss = torch.nn.functional.cross_entropy(output.logits.reshape(-1, 2), torch.tensor(tokens[:, 1:]).reshape(-1))
    loss.backward()

    @eqx.filter_jit
    @eqx.filter_value_and_grad(has_aux=True)
    def ours(model):
        logits = jax.vmap(lambda one: model(one)[0])(jnp.asarray(tokens[:, :-1], jnp.int32))
        return cross_entropy(logits, jnp.asarray(tokens[:, 1:], jnp.int32)), logits

    (value, logits), gradient = ours(model)
    np.testing.assert_allclose(logits, output.logits.detach().numpy(), atol=1e-5)
    assert abs(float(value) - loss.item()) < 1e-5
    found = dict(theirs.named_parameters())
    for name, leaf in named(gradient).items():
        np.testing.assert_allclose(leaf, found[name].grad.numpy(), atol=1e-5, err_msg=name)


def named(model):
    """Our parts under Hugging Face's names; both store maps as (source, target)."""
    parts = {"transformer.wte.weight": model.tokens, "transformer.wpe.weight": model.positions}
    parts |= {"transformer.ln_f.weight": model.final.scale, "transformer.ln_f.bias": model.final.shift}
    for number, block in enumerate(model.blocks):
        stem = f"transformer.h.{number}."
        for name, norm in (("ln_1", block.first), ("ln_2", block.second)):
            parts |= {f"{stem}{name}.weight": norm.scale, f"{stem}{name}.bias": norm.shift}
        for name, linear in (("attn.c_attn", block.project), ("attn.c_proj", block.out), ("mlp.c_fc", block.up),
                             ("mlp.c_proj", block.down)):  # fmt: skip
            parts |= {f"{stem}{name}.weight": linear.weight, f"{stem}{name}.bias": linear.bias}
    return parts


def test_switches():
    text, code = PRESETS["paper text"](4, 4), PRESETS["released code"](4, 4)
    assert (text.hidden, text.dropout, text.weights) == (3072, 0.0, "float32")
    assert (code.hidden, code.dropout, code.weights) == (2880, 0.1, "bfloat16")
    model = network(Architecture(1, 2, 8, 8, dropout=0.5, weights="bfloat16"), 4, jax.random.key(0))
    assert {leaf.dtype for leaf in jax.tree.leaves(model)} == {jnp.dtype("bfloat16")}
    tokens = jnp.array([0, 1, 1, 0])
    still, _ = model(tokens)
    dropped, _ = model(tokens, jax.random.key(1))
    assert (np.asarray(still, np.float32) != np.asarray(dropped, np.float32)).any()
    half = network(Architecture(2, 2, 16, 16, compute="bfloat16"), 4, jax.random.key(0))
    exact = network(Architecture(2, 2, 16, 16), 4, jax.random.key(0))
    near = half(tokens)[0]
    assert near.dtype == jnp.float32
    np.testing.assert_allclose(near, exact(tokens)[0], atol=2e-2)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("heads", 5, "divisor"), ("layers", 0, "layers=0"), ("dropout", 1.0, "dropout"), ("weights", "int8", "int8")],
)
def test_refusals(field, value, words):
    with pytest.raises(SpecError, match=words):
        Architecture(**{"width": 16, "hidden": 16, field: value})
