"""The network of GPT-2 for any layers, heads and width: learned positions, pre-norm blocks, tied embeddings, tanh-GELU,
dropout.

Axes: position, width (residual stream), hidden (feed-forward), head, dim (of a head), vocab. One sequence at a time;
`jax.vmap` makes the batch. Logits and gradients equal Hugging Face's GPT2LMHeadModel (tests/models/test_network.py).
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Num

from ..errors import require
from ..fast import draws
from ..fields import require_whole

EPSILON = 1e-5  # of every layer norm
TYPES = {"float32": jnp.float32, "bfloat16": jnp.bfloat16}


@dataclasses.dataclass(frozen=True)
class Architecture:
    """Static sizes and switches; the compile key of a GPT."""

    layers: int = 1
    heads: int = 1
    width: int = 720
    hidden: int = 3072
    dropout: float = 0.0  # residual, embedding and attention
    weights: str = "float32"  # bfloat16 rounds every weight and the optimiser's state
    compute: str = "float32"  # bfloat16 multiplies in bf16, and so is the stream between layers; weights stay float32
    spread: float = 0.02  # of every initial weight; GPT-2's own, made for widths of several hundred

    def __post_init__(self):
        require_whole(layers=self.layers, heads=self.heads, width=self.width, hidden=self.hidden)
        require(self.layers >= 1, f"a GPT has layers: layers={self.layers}; use 1 or more")
        require(
            self.heads >= 1 and self.width % self.heads == 0,
            f"heads share the width evenly: width={self.width}, heads={self.heads}; use a divisor of the width",
        )
        require(self.hidden >= 1, f"a feed-forward layer has neurons: hidden={self.hidden}; use 1 or more")
        require(0 <= self.dropout < 1, f"dropout lies in [0, 1): dropout={self.dropout}; use 0 or 0.1")
        for name in ("weights", "compute"):
            value = getattr(self, name)
            require(value in TYPES, f"{name} are float32 or bfloat16: {name}={value!r}; use one of the two")


def paper_text(layers: int, heads: int) -> Architecture:
    """What the paper states: width 720, hidden 3072."""
    return Architecture(layers, heads, 720, 3072)


def released_code(layers: int, heads: int) -> Architecture:
    """What the authors' code does: its `intermediate_size` is ignored (4 x 720), weights and optimiser are bf16, and
    dropout is that of the pretrained configuration."""
    return Architecture(layers, heads, 720, 2880, dropout=0.1, weights="bfloat16")


PRESETS = {"paper text": paper_text, "released code": released_code}


class Norm(eqx.Module):
    scale: Float[Array, " width"]
    shift: Float[Array, " width"]

    def __call__(self, x: Float[Array, "*rows width"]) -> Float[Array, "*rows width"]:
        return (standardize(x) * align(self.scale, x) + align(self.shift, x)).astype(x.dtype)


def standardize(x: Float[Array, "*rows width"]) -> Float[Array, "*rows width"]:
    """Give every row mean 0 and variance 1; sums are in float32 or wider."""
    rows = x.astype(sum_type(x))
    centred = rows - rows.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + EPSILON)


def align(vector: Float[Array, " last"], rows: Float[Array, "*rows _"]) -> Float[Array, "*ones last"]:
    """Give the vector as many axes as the rows; the tests raise on silent rank promotion."""
    return vector.reshape((1,) * (rows.ndim - 1) + vector.shape)


class Linear(eqx.Module):
    weight: Float[Array, "source target"]
    bias: Float[Array, " target"]

    def __call__(self, x: Float[Array, "*rows source"], compute=None) -> Float[Array, "*rows target"]:
        """Multiply in the type `compute`, None for that of x."""
        kind = compute or x.dtype
        return (x.astype(kind) @ self.weight.astype(kind)).astype(x.dtype) + align(self.bias, x).astype(x.dtype)


def tanh_gelu(x: Array) -> Array:
    return jax.nn.gelu(x, approximate=True)


class Block(eqx.Module):
    first: Norm
    project: Linear  # queries, keys and values, in that order
    out: Linear
    second: Norm
    up: Linear
    down: Linear

    def feed_forward(self, x: Float[Array, "*rows width"], compute=None) -> Float[Array, "*rows width"]:
        return self.down(tanh_gelu(self.up(self.second(x), compute)), compute)


class Network(eqx.Module):
    tokens: Float[Array, "vocab width"]
    positions: Float[Array, "position width"]
    blocks: tuple[Block, ...]
    final: Norm
    architecture: Architecture = eqx.field(static=True)

    def __call__(
        self, tokens: Int[Array, " position"], key: Key[Array, ""] | None = None
    ) -> tuple[Float[Array, "position vocab"], tuple[Float[Array, "head position position"], ...]]:
        """Logits at every position and the attention of every layer (row = query); a key switches dropout on."""
        return self.continued(self.tokens[tokens] + self.positions[: len(tokens)], key)

    def continued(self, stream: Float[Array, "position width"], key: Key[Array, ""] | None = None):
        """The same from the residual stream before the first block."""
        length, heads, compute = len(stream), self.architecture.heads, working_type(self.architecture)
        keys = iter(jax.random.split(key, 1 + 3 * len(self.blocks))) if key is not None else None
        drop = Dropout(self.architecture.dropout, keys)
        x, last = drop(stream), len(self.blocks) - 1
        causal, maps = np.tril(np.ones((length, length), bool)), []
        for number, block in enumerate(self.blocks):
            split = block.project(block.first(x), compute).reshape(length, 3, heads, -1)
            query, key_, value = split[:, 0], split[:, 1], split[:, 2]
            scores = jnp.einsum("qhd,jhd->hqj", query, key_) / np.sqrt(query.shape[-1]).astype(x.dtype)
            attention = jax.nn.softmax(scores.astype(sum_type(x)), axis=-1, where=causal[None]).astype(x.dtype)
            maps.append(attention)
            mixed = jnp.einsum("hqj,jhd->qhd", drop(attention), value).reshape(length, -1)
            x = x + drop(block.out(mixed, compute))
            x = x if compute is None or number == last else x.astype(compute)  # the stream between layers
            x = x + drop(block.feed_forward(x, compute))
        return self.final(x.astype(self.tokens.dtype)) @ self.tokens.T, tuple(maps)


def embed(
    net: Network,
    pad: Float[Array, " width"],
    numbers: Num[Array, "*batch position"],
    hidden: Bool[Array, "*batch position"] | None,
) -> Float[Array, "*batch position width"]:
    """Return the residual stream before the first block. Hidden positions hold the pad; soft bits, which are floats,
    hold a mixture of the two tokens."""
    if jnp.issubdtype(numbers.dtype, jnp.integer):
        x = net.tokens[numbers]
    else:
        bits = numbers[..., None].astype(net.tokens.dtype)
        first, second = (align(row, bits) for row in net.tokens)
        x = (1 - bits) * first + bits * second
    x = x if hidden is None else jnp.where(hidden[..., None], align(pad, x), x)
    return x + jnp.expand_dims(net.positions[: numbers.shape[-1]], tuple(range(x.ndim - 2)))


class Dropout:
    """Drops entries with one key after another; without keys it does nothing."""

    def __init__(self, rate: float, keys):
        self.rate, self.keys = rate, keys if rate else None

    def __call__(self, x: Array) -> Array:
        if self.keys is None:
            return x
        kept = jax.random.bernoulli(next(self.keys), 1 - self.rate, x.shape)
        return jnp.where(kept, x / (1 - self.rate), 0).astype(x.dtype)


def sum_type(x: Array):
    """The type in which sums over x are taken: float32 or wider."""
    return jnp.promote_types(x.dtype, jnp.float32)


def working_type(architecture: Architecture):
    """The precision of products, None for that of the weights."""
    return None if architecture.compute == "float32" else TYPES[architecture.compute]


def network(architecture: Architecture, positions: int, key: Key[Array, ""], vocab: int = 2) -> Network:
    """Weights as GPT-2 draws them: N(0, spread^2), the two maps into the residual stream divided by sqrt(2 layers)."""
    width, hidden, layers = architecture.width, architecture.hidden, architecture.layers
    residual = (2 * layers) ** -0.5
    maps = [(width, 3 * width), (width, width), (width, hidden), (hidden, width)]
    found = draws.normals(
        list(jax.random.split(key, 2 + 4 * layers)), [(vocab, width), (positions, width), *(layers * maps)]
    )
    scales = [1.0, 1.0, *(layers * [1.0, residual, 1.0, residual])]
    tokens, places, *drawn = (architecture.spread * scale * each for scale, each in zip(scales, found, strict=True))

    def norm() -> Norm:
        return Norm(jnp.ones(width), jnp.zeros(width))

    def linear(weight: Array) -> Linear:
        return Linear(weight, jnp.zeros(weight.shape[1]))

    def block(project: Array, out: Array, up: Array, down: Array) -> Block:
        return Block(norm(), linear(project), linear(out), norm(), linear(up), linear(down))

    model = Network(
        tokens=tokens,
        positions=places,
        blocks=tuple(block(*drawn[4 * layer : 4 * layer + 4]) for layer in range(layers)),
        final=norm(),
        architecture=architecture,
    )
    return jax.tree.map(lambda leaf: leaf.astype(TYPES[architecture.weights]), model)
