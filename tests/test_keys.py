"""Two draws never share a random key, and neither do two training steps, training and held-out chains, two members.

`followed_keys` says which keys an operation draws from, to the bit. The source does not show it: `split(key, n)[i]` and
`fold_in(key, i)` are the same key.
"""

import ast
import dataclasses
import functools
import re
import sys
from collections import Counter
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import sorites
from followed_keys import CORE, Keys, keys_of, rows_of
from sorites.models import MODELS, AbstractModel, SignMeans
from sorites.models.clause import clause
from sorites.models.decoder import decoder
from sorites.models.features import drawn as features
from sorites.models.gpt import gpt
from sorites.models.perceptron import perceptron
from sorites.models.positional import positional
from sorites.models.prediction import held_out_key
from sorites.models.routing import uniform
from sorites.models.sparse import sparse
from sorites.models.srelu import SReLU
from sorites.probes import Loss, OnTask, Outcome, Reward
from sorites.store import data
from sorites.store.data import ChainRows
from sorites.store.loading import secret_of
from sorites.supervision import (
    OBJECTIVES,
    Blocks,
    Clipped,
    Enumerated,
    Noisy,
    OnePass,
    OwnPrefix,
    Passes,
    PolicyGradient,
    Pooled,
    Repeated,
    Rewritten,
    Sampled,
    Supervision,
    TrueLabels,
    credit,
    teacher_forcing,
)
from sorites.tasks import Alphabet, Composition, Lego, Parity, Sequences, action_named
from sorites.training import Adam, Evaluation, Run, Stage, lego_theory
from sorites.training.contracts import _with_noise
from sorites.training.lego_theory import FreshSentences, RoutingHistory, SelfLabelled, self_train
from sorites.training.member import init_member, make_pool, start_stage, train_step
from sorites.training.plan import plans
from sorites.training.segments import evaluate

SOURCE = Path(sorites.__file__).parent
MAKERS = ("split", "fold_in")
# Drawn from more than once, and why: all probes of an evaluation ask for the same thoughts of a model.
SHARED = {key for number in range(9) for key in rows_of(jax.random.fold_in(held_out_key(), number))}
# Drawn from and folded, and why: held-out chains are drawn from the key that a pool's is folded out of.
POOLS = {rows_of(jax.random.split(jax.random.key(seed), 4)[3])[0] for seed in (0, 1)}
CLASSES = {"flipped classes", "lego"}  # which class a flipped one becomes is drawn from a fold of the key that flips

TASK, WORDS, ACTION = Parity(8, 4), Lego("C3", 2, 6), action_named("C3")
KEY, FLIPS = jax.random.key(5), 0.1
TASKS = {
    "parity": TASK, "sequences": Sequences(12, 3, 3, validation=64), "composition": Composition("C3", 3), "lego": WORDS,
}  # fmt: skip


class Dropping(AbstractModel):
    """Draws from the very keys that it is given."""

    weights: Array

    def init(self, key):
        return Dropping(jax.random.normal(key, self.weights.shape))

    def predict(self, chain, depth=None, key=None):
        here = self.weights if key is None else self.weights * jax.random.bernoulli(key, 0.5, self.weights.shape)
        return SignMeans(jnp.tanh(here * chain.tokens[:8, 0].sum())[:, None])


def chains(task):
    """A secret and chains."""

    def operation():
        first, second = jax.random.split(KEY)
        secret = task.draw(first)
        return secret, task.sample(secret, second, 3)

    return operation


def weights(task, model):
    """A model draws its weights and writes a chain."""

    def operation():
        first, second, third, fourth = jax.random.split(KEY, 4)
        chain = task.sample(task.draw(first), second, 2)
        return model.init(third).generate_and_predict(chain, fourth, "sampled")[0]

    return operation


def member(*taught, source=Sampled(4), task=TASK, model=None, reuse=1, seed=0, steps=2, probes=None):  # noqa: B008
    """A member is drawn, makes its pool, trains and is evaluated."""

    def operation():
        every = (Loss(), Outcome("rolled"), Reward(), OnTask(task, (Reward(),), "there", 4))
        checks = Evaluation(1, 4, every if probes is None else probes)
        stage = Stage(task, taught, source, Adam(0.1), 4, checks, freeze=True, reuse=reuse)
        run = Run(model or positional(task), [stage])
        here = start_stage(stage, init_member(run, jnp.asarray(seed)))
        pool = make_pool(stage, here)
        for _ in range(steps):
            here, _ = train_step(stage, here, pool)
        [(plan, _)] = plans(run)
        return here.model, here.secret, evaluate(plan, jnp.asarray(0), here)

    return operation


def own(task=TASK, objective="squared", **fields):
    where = np.ones((task.layout.thoughts, task.layout.slots))
    return Supervision(OwnPrefix("sampled"), TrueLabels(), where, OBJECTIVES[objective], **fields)


def forced(task=TASK, **fields):
    return dataclasses.replace(teacher_forcing(task.layout), **fields)


def lego_features():
    return features(ACTION, 12, 2, 0.1, 2.0, SReLU(), KEY)


def fresh_sentences():
    source = FreshSentences(jnp.asarray(ACTION.table), KEY, 2, 3)
    return [source(step).values for step in jnp.arange(3)]


def self_labelled():
    table, key = jnp.asarray(ACTION.table), jax.random.key(6)
    source = SelfLabelled(lego_features(), uniform(), table, key, jnp.asarray(0.1), jnp.asarray(0.5), 4, 3)
    return [source(step).values for step in jnp.arange(3)]


def recursion():
    """The sentences of three stages of self-training; the descent itself draws nothing."""
    drawn = []

    def train(features, routing, source, *rest):
        drawn.extend(source(step).values for step in jnp.arange(2))
        return RoutingHistory(jax.tree.map(lambda leaf: leaf[None], routing), jnp.zeros(1), jnp.zeros(1))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lego_theory, "train_routing", train)
        self_train(lego_features(), uniform(), ACTION, 6, 3, 2, 3, jax.random.key(6))
    return drawn


DEEP, SECRET, NUMBERS = Parity(8, 8), jnp.asarray([3, 4], jnp.uint32), jnp.arange(4, dtype=jnp.uint32)
MOST = credit(TASK.layout, "step")
OPERATIONS = {
    **{f"chains of {name}": chains(task) for name, task in TASKS.items()},
    "numbered sentences": lambda: (WORDS.numbered(SECRET, NUMBERS), WORDS.numbered(SECRET, NUMBERS, held_out=True)),
    "flipped classes": lambda: Alphabet(5, signs=False).corrupt(jnp.arange(6), KEY, 0.5),
    "secret of a stored member": lambda: secret_of(TASK, 3),
    **{f"weights of {name}": weights(TASK, MODELS[name](TASK)) for name in MODELS if name != "decoder"},
    "weights of a gpt of two layers": weights(WORDS, gpt(WORDS, layers=2)),
    "weights of decoder": weights(WORDS, decoder(WORDS, positions="learned")),
    "weights of sparse": weights(TASKS["sequences"], sparse(TASKS["sequences"], 8, 4)),
    "weights of lego's theory": lego_features,
    "weights of clause": lambda: clause(WORDS.vocabulary, 2, 0.1, 2.0, SReLU(), KEY),
    "sampled": member(own(flips=FLIPS)),
    "two members": lambda: [member(own(), model=perceptron(TASK), seed=seed, probes=())() for seed in (0, 1)],
    "sampled in blocks": member(own(flips=FLIPS), source=Sampled(7, block=3)),
    "pooled": member(own(flips=FLIPS), source=Pooled(8, 4)),
    "pooled in blocks": member(own(), source=Pooled(32, 20, block=4)),
    "blocks": member(own(flips=FLIPS), source=Blocks(3, 2)),
    "noisy": member(own(), source=Noisy(Sampled(4), 0.1), model=perceptron(TASK)),
    "repeated": member(own(), source=Repeated(6, 3)),
    "enumerated": member(own(), source=Enumerated(8)),
    "one pass": member(own(), source=OnePass(4)),
    "passes": member(own(), source=Passes(4, 6)),
    "rewritten": member(forced(flips=FLIPS), source=Rewritten(Sampled(4), "sampled", noise=0.1, confidence=0.1)),
    "rewritten pool": member(forced(), source=Rewritten(Pooled(8, 4), "sampled", noise=0.1)),
    "reused": member(dataclasses.replace(own(flips=FLIPS), objective=Clipped(PolicyGradient(MOST), 0.2)), reuse=2),
    "lego": member(
        own(WORDS, "cross-entropy", flips=FLIPS), task=WORDS, model=decoder(WORDS),
        source=Rewritten(Pooled(8, 4), "sampled", noise=0.1),
    ),
    "composition": member(own(TASKS["composition"], "cross-entropy"), task=TASKS["composition"],
                          model=gpt(TASKS["composition"])),
    "eight rounds": member(own(DEEP), task=DEEP, model=gpt(DEEP, width=8)),
    "dropout": member(forced(flips=FLIPS), model=gpt(TASK, layers=2, width=8, dropout=0.1)),
    "dropout and own thoughts": member(forced(), own(), model=Dropping(jnp.zeros(3))),
    "noise on the weights of a checked model": lambda: _with_noise(perceptron(TASK)),
    "fresh sentences": fresh_sentences,
    "self-labelled sentences": self_labelled,
    "self-training in theory": recursion,
}  # fmt: skip


class Sites:
    """The lines of the core that split or fold a key, noted when they run."""

    def __init__(self):
        self.seen = set()

    def watch(self, name: str):
        made = getattr(jax.random, name)

        def watched(*given, **named):
            code = sys._getframe(1).f_code
            file = code.co_filename.rpartition("/sorites/")[2]
            function = re.sub(r"\.<\w+>", "", code.co_qualname)
            self.seen.add(f"{file} {function} {name}")
            return made(*given, **named)

        return watched


RAN = Sites()


@functools.cache
def followed(name: str) -> Keys:
    with pytest.MonkeyPatch.context() as patch:
        for maker in MAKERS:
            patch.setattr(jax.random, maker, RAN.watch(maker))
        return keys_of(lambda: jax.tree.leaves(eqx.filter(OPERATIONS[name](), eqx.is_array)))


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_two_draws_share_a_key(name):
    found = followed(name)
    assert found.drawn, "the operation draws nothing"
    assert not found.twice().keys() - SHARED
    assert not found.both().keys() - POOLS or name in CLASSES


def test_the_followed_keys_are_those_of_the_program():
    """A chain is written in a loop under vmap; its keys are worked out by hand."""

    def operation():
        def write(key):
            return jax.lax.scan(
                lambda _, number: (0, jax.random.normal(jax.random.fold_in(key, number))), 0, jnp.arange(3)
            )

        return jax.vmap(write)(jax.random.split(KEY, 2))

    wanted = [jax.random.fold_in(key, number) for key in jax.random.split(KEY, 2) for number in range(3)]
    assert keys_of(operation).drawn == Counter(row for key in wanted for row in rows_of(key))
    doubled = keys_of(lambda: [draw(jax.random.fold_in(KEY, 1), (3,)) for draw in (jax.random.normal, jax.random.bits)])
    assert doubled.twice().keys() == set(rows_of(jax.random.split(KEY)[1]))


def test_every_evaluation_has_the_same_chains():
    """A member that has trained longer draws more, and all of it in training."""
    early, late = (keys_of(lambda steps=steps: jax.tree.leaves(member(own(), steps=steps)()[2])) for steps in (1, 2))
    assert not early.drawn - late.drawn
    more = late.drawn - early.drawn
    assert more
    assert max(more.values()) == 1
    assert not more.keys() & early.drawn.keys()


def test_exported_blocks_and_splits_are_drawn_apart(monkeypatch):
    """Each block of the training and of the held-out split has a key of its own, and none is a member's."""
    monkeypatch.setattr(data, "TOKENS", 64)
    monkeypatch.setattr(jax.random, "bits", watched_bits := Drawn(jax.random.bits))
    with jax.disable_jit():
        for held_out in (False, True):
            tables = list(ChainRows(TASK, 12, held_out=held_out).tables())
            assert len(tables) == 3
    assert len(set(watched_bits.keys)) == len(watched_bits.keys) == 6
    seed = jax.random.split(jax.random.key(0), 4)
    assert not set(watched_bits.keys) & set(rows_of(seed))


class Drawn:
    def __init__(self, draw):
        self.draw, self.keys = draw, []

    def __call__(self, key, *given, **named):
        self.keys += rows_of(key)
        return self.draw(key, *given, **named)


ELSEWHERE = {"store/data.py ChainRows.tables fold_in", "store/data.py ChainRows.tables.drawn fold_in"}  # the test above
SITES = """
tasks/alphabet.py Alphabet.corrupt fold_in
tasks/lego.py draw_sentence split
tasks/lego.py Lego.sample split
tasks/lego.py Lego.numbered fold_in x2
tasks/sequences.py Sequences.draw split
models/base.py AbstractModel.predict_batch split
models/base.py AbstractModel._written fold_in
models/decoder.py Decoder.generate.step fold_in
models/decoder.py drawn split
models/features.py drawn split
models/gpt.py GPT.init fold_in
models/gpt.py GPT._cached.chosen fold_in
models/network.py Network.continued split
models/network.py network split
models/perceptron.py Perceptron.init split
models/positional.py Positional.generate_and_predict fold_in
models/prediction.py held_out_key fold_in
models/sparse.py Sparse.init split
supervision/blocks.py Blocks.gradient.add split
supervision/blocks.py Blocks.gradient.add fold_in
supervision/prefix.py TruePrefix.__call__ fold_in
supervision/rewritten.py Rewritten.rewrite fold_in x2
supervision/rewritten.py Rewritten.prepare split
supervision/rewritten.py Rewritten.chains split
supervision/sources.py AbstractSource.gradient split
supervision/sources.py Sampled.gradient.block split
supervision/sources.py _in_blocks split
supervision/sources.py Pooled.gradient split
supervision/sources.py Noisy.gradient split x2
supervision/supervision.py Supervision._met fold_in
training/contracts.py _with_noise split
training/lego_theory.py FreshSentences.__call__ split
training/lego_theory.py FreshSentences.__call__ fold_in
training/lego_theory.py SelfLabelled.__call__ split
training/lego_theory.py SelfLabelled.__call__ fold_in
training/lego_theory.py self_train fold_in
training/member.py init_member split
training/member.py make_pool fold_in
training/member.py train_step fold_in
training/member.py _train_again split
store/data.py ChainRows.tables fold_in
store/data.py ChainRows.tables.drawn fold_in
store/loading.py _drawn split
"""  # file, function, what is called, and how often; a new line needs an operation above that runs it


def test_every_split_and_fold_is_listed_and_followed():
    found = Counter()
    for folder in CORE:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            found.update(calls(ast.parse(path.read_text()), str(path.relative_to(SOURCE)), ()))
    listed = [line if count == 1 else f"{line} x{count}" for line, count in found.items()]
    assert sorted(listed) == sorted(SITES.strip().splitlines())
    for name in OPERATIONS:
        followed(name)
    assert found.keys() - RAN.seen == ELSEWHERE


def calls(node: ast.AST, file: str, names: tuple[str, ...]):
    """The calls that split or fold a key; they are spelt `jax.random.split`, so that none is overlooked."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("jax"):
            assert not {alias.name for alias in child.names} & {"random", *MAKERS}, f"{file}: write jax.random.split"
        if (
            isinstance(child, ast.Attribute)
            and child.attr in MAKERS
            and ast.unparse(child) == f"jax.random.{child.attr}"
        ):
            yield f"{file} {'.'.join(names)} {child.attr}"
        inner = (*names, child.name) if isinstance(child, ast.FunctionDef | ast.ClassDef) else names
        yield from calls(child, file, inner)
