"""Mistakes of a newcomer, each in one line; run as a script, it prints what each of them gets.

They run in a process of their own: the tests check types by a hook that would see some of them before sorites does.
"""

import json
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np

import sorites as so
from sorites.cli.compiling import compiling

TASK = so.Parity(8, 4)
LAYOUT = TASK.layout
EVALUATION = so.Evaluation(every=2, count=16)
TAUGHT = so.teacher_forcing(LAYOUT)
WEIGHTS = np.ones((LAYOUT.thoughts, LAYOUT.slots))
MODEL = so.gated(TASK)
KEY = jax.random.key(0)
repr(KEY)  # compiles


def stage(**changes):
    parts = {"task": TASK, "supervisions": (TAUGHT,), "source": so.Sampled(16), "optimizer": so.Adam(0.1), "steps": 4}
    return so.Stage(**(parts | {"evaluation": EVALUATION} | changes))


def train(model=MODEL, goal=None, seeds=(0,), settings=None, **changes):
    return so.train(so.Run(model, [stage(**changes)], goal), seeds, **(settings or {}))


def taught(**changes):
    parts = {"prefix": so.TruePrefix(), "labels": so.TrueLabels(), "where": WEIGHTS, "objective": so.Squared()}
    return train(supervisions=(so.Supervision(**(parts | changes)),))


def probed(probes):
    return train(evaluation=so.Evaluation(2, 16, probes))


def staged(curriculum, optimizer=None):
    return so.stages(TASK, curriculum, so.Sampled(16), optimizer or so.Adam(0.1), 4, EVALUATION)


class ReturnsArray(so.AbstractModel):
    def predict(self, chain, depth=None, key=None):
        return jnp.zeros((3, 1))


class ReturnsNothing(so.AbstractModel):
    def predict(self, chain, depth=None, key=None):
        pass


class TakesOnlyTheChain(so.AbstractModel):
    def predict(self, chain):
        return so.SignMeans(jnp.zeros((3, 1)))


class Raises(so.AbstractModel):
    def predict(self, chain, depth=None, key=None):
        return so.SignMeans(jnp.ones((3, 3)) @ chain.tokens)


class TupleTask(so.Boolean):
    def sample(self, secret, key, count):
        return super().sample(secret, key, count).tokens, self.layout


class TokensTask(so.Boolean):
    def sample(self, secret, key, count):
        return super().sample(secret, key, count).tokens


class ShortTask(so.Boolean):
    def sample(self, secret, key, count):
        chain = super().sample(secret, key, count)
        return so.Chain(chain.tokens[:-1], chain.layout)


class OneByOneTask(so.Boolean):
    def sample(self, secret, key):
        return super().sample(secret, key, 1)


class ReturnsNumber(so.AbstractProbe):
    def __call__(self, model, task, secret, chains, supervisions):
        return jnp.zeros(())


class TakesOnlyTheModel(so.AbstractProbe):
    def __call__(self, model):
        return {"zero": jnp.zeros(())}


class TakesTwo(so.AbstractObjective):
    def __call__(self, prediction, labels):
        return jnp.zeros(())


class ForgetsToSum(so.AbstractObjective):
    def __call__(self, prediction, labels, where, tokens):
        return prediction.error(labels)


def own(kind):
    task = kind(8, 4, "parity")
    return so.train(so.Run(so.positional(task), [stage(task=task)]), [0])


rule = lambda layout: np.tril(np.ones((layout.thoughts, layout.positions), bool))  # noqa: E731

MISTAKES = {
    # numbers
    "a rate in quotes": (lambda: train(optimizer=so.Adam("0.1")), "got rate='0.1'"),
    "no rate": (lambda: train(optimizer=so.Adam(None)), "got rate=None"),
    "several rates": (lambda: train(optimizer=so.Adam([0.1, 0.2])), r"got rate=\[0.1, 0.2\]"),
    "a momentum in quotes": (lambda: train(optimizer=so.Adam(0.1, momentum="0.9")), "got momentum='0.9'"),
    "a momentum of two": (lambda: train(optimizer=so.Adam(0.1, momentum=2)), "got momentum=2"),
    "a decay in quotes": (lambda: train(optimizer=so.AdamW(0.1, decay="0.1")), "got '0.1'; allowed are numbers"),
    "a batch with a point": (lambda: train(source=so.Sampled(16.0)), "got batch=16.0; allowed is a whole number"),
    "a batch in quotes": (lambda: train(source=so.Sampled("16")), "got batch='16'"),
    "a pool in quotes": (lambda: train(source=so.Pooled("16", "8")), "got pool='16'"),
    "one pass over a fraction": (lambda: train(source=so.OnePass(16.5)), "got batch=16.5"),
    "passes over a word": (lambda: train(source=so.Passes(16, "all")), "got size='all'"),
    "repeated by a fraction": (lambda: train(source=so.Repeated(16, 2.0)), "got times=2.0"),
    "steps in quotes": (lambda: train(steps="4"), "got steps='4'"),
    "half a step": (lambda: train(steps=4.5), "got steps=4.5"),
    "no steps": (lambda: train(steps=None), "got steps=None"),
    "steps between evaluations": (lambda: train(steps=5), "steps=5, every=2"),
    "every in quotes": (lambda: train(evaluation=so.Evaluation("2")), "got every='2'"),
    "a count as 1e3": (lambda: train(evaluation=so.Evaluation(2, 1e3)), "got count=1000.0"),
    "a goal in quotes": (lambda: train(goal=so.Until("padded.answer", "1")), "got '1'; allowed are numbers"),
    "flips beyond one": (lambda: taught(flips=2.0), "got flips=2.0; allowed are probabilities"),
    "updates with a point": (lambda: train(reuse=2.0), "got reuse=2.0"),
    "bits in quotes": (lambda: so.Parity("8", 4), "got bits='8'"),
    "a width in quotes": (lambda: so.gpt(TASK, width="64"), "got width='64'"),
    "layers with a point": (lambda: so.gpt(TASK, layers=2.0), "got layers=2.0"),
    "removed in quotes": (lambda: so.without(LAYOUT, "1"), "got removed='1'"),
    # seeds and settings of train
    "a number of seeds": (lambda: train(seeds=3), r"use range\(3\)"),
    "seeds as a float": (lambda: train(seeds=3.0), "got seeds=3.0"),
    "a seed as a float": (lambda: train(seeds=[0.5]), "got the seed 0.5"),
    "a set of seeds": (lambda: train(seeds={1, 2}), r"got seeds=\{1, 2\}"),
    "seeds in quotes": (lambda: train(seeds="012"), "got seeds='012'"),
    "a truth as a seed": (lambda: train(seeds=[True]), "got the seed True"),
    "a key as seeds": (lambda: train(seeds=KEY), "got seeds=Array"),
    "a model instead of a run": (lambda: so.train(MODEL, [0]), "got runs=Gated.* allowed is an instance of Run"),
    "stages instead of a run": (lambda: so.train([stage()], [0]), "got runs=Stage"),
    "an unknown strategy": (lambda: train(settings={"strategy": "fast"}), "got strategy='fast'"),
    "seconds in quotes": (lambda: train(settings={"seconds": "10"}), "got seconds='10'"),
    "progress switched on": (lambda: train(settings={"progress": True}), "got progress=True"),
    "one snapshot": (lambda: train(settings={"snapshots": 2}), "got snapshots=2"),
    # parts of another kind
    "one stage": (lambda: so.Run(MODEL, stage()), "got stages=Stage"),
    "a list in a list": (lambda: so.Run(MODEL, [[stage()]]), "in stages; allowed is a list or tuple of Stage"),
    "a supervision as a stage": (lambda: so.Run(MODEL, [TAUGHT]), "got Supervision.* in stages"),
    "a run where stages are": (lambda: so.Run(MODEL, so.Run(MODEL, [stage()])), "got stages=Run"),
    "a model by name": (lambda: so.Run("gated", [stage()]), "got model='gated'"),
    "a model's function": (lambda: so.Run(so.gated, [stage()]), "got model=the function gated"),
    "a model's class": (lambda: so.Run(so.GPT, [stage()]), "got model=the class GPT"),
    "one supervision": (lambda: train(supervisions=TAUGHT), "got supervisions=Supervision"),
    "no supervision": (lambda: train(supervisions=()), "got no supervisions"),
    "a supervision by name": (lambda: train(supervisions="direct"), "got supervisions='direct'"),
    "one curriculum": (lambda: staged(TAUGHT), "got curriculum=Supervision"),
    "a curriculum's function": (lambda: staged(so.log_icot), "got curriculum=the function log_icot"),
    "too few optimizers": (lambda: staged(so.log_icot(LAYOUT), [so.Adam(0.1)]), "got 1 optimizers for 2 stages"),
    "a task for a layout": (lambda: so.teacher_forcing(TASK), "got layout=Boolean.* use for example task.layout"),
    "a task for a curriculum": (lambda: so.log_icot(TASK), "got layout=Boolean"),
    "a task for a reward": (lambda: so.process_reward(TASK), "got layout=Boolean"),
    "a task by name": (lambda: train(task="parity"), "got task='parity'"),
    "a task's function": (lambda: train(task=so.Parity), "got task=the function Parity"),
    "a batch for a source": (lambda: train(source=64), "got source=64"),
    "an optimizer's class": (lambda: train(optimizer=so.Adam), "got optimizer=the class Adam"),
    "an optimizer in another": (lambda: so.Clip(0.1, 1.0), "got optimizer=0.1"),
    "evaluations as a number": (lambda: train(evaluation=25), "got evaluation=25"),
    "one probe": (lambda: probed(so.Loss()), "got probes=Loss"),
    "a probe's class": (lambda: probed((so.Loss,)), "got the class Loss in probes"),
    "a probe by name": (lambda: probed(("loss",)), "got 'loss' in probes"),
    "a goal that is a text": (lambda: train(goal="rolled.answer"), "goal=rolled.answer; use Until"),
    "a metric that is not measured": (lambda: train(goal=so.Until("acuracy")), "'acuracy'; use one of"),
    "a metric that is a number": (lambda: train(goal=so.Until(0.9)), "got metric=0.9"),
    "no prefix": (lambda: taught(prefix=None), "got prefix=None"),
    "the class of labels": (lambda: taught(labels=so.TrueLabels), "got labels=the class TrueLabels"),
    "the class of a loss": (lambda: taught(objective=so.Hinge), "got objective=the class Hinge"),
    "a loss by name": (lambda: taught(objective="hinge"), "got objective='hinge'"),
    "weights by name": (lambda: taught(where="all"), "got 'all'; allowed are numbers"),
    "weights without slots": (lambda: taught(where=np.ones(3)), r"\(3,\) of \(3, 1\)"),
    "a mask that is too short": (lambda: taught(prefix=so.TruePrefix([True] * 5)), "length 5; allowed is 11"),
    "a mask that is one truth": (lambda: taught(prefix=so.TruePrefix(True)), "got shown=True"),
    "a credit by name": (lambda: so.PolicyGradient("step"), "got credit='step'"),
    # classes of the user's own
    "predict returns an array": (lambda: train(ReturnsArray()), "got an array from ReturnsArray.predict"),
    "predict returns nothing": (lambda: train(ReturnsNothing()), "got NoneType from ReturnsNothing.predict"),
    "predict takes the chain": (lambda: train(TakesOnlyTheChain()), r"got TakesOnlyTheChain.predict\(chain\)"),
    "predict raises": (lambda: train(Raises()), "got TypeError .* from predict of Raises"),
    "sample returns a tuple": (lambda: own(TupleTask), "got tuple from TupleTask.sample; allowed is Chain"),
    "sample returns tokens": (lambda: own(TokensTask), "got an array from TokensTask.sample"),
    "sample returns too little": (lambda: own(ShortTask), r"sample gives \(10, 1, 2\)"),
    "sample takes no count": (lambda: own(OneByOneTask), r"got OneByOneTask.sample\(secret, key\)"),
    "a probe returns a number": (lambda: probed((ReturnsNumber(),)), "got an array from ReturnsNumber.__call__"),
    "a probe takes the model": (lambda: probed((TakesOnlyTheModel(),)), r"got TakesOnlyTheModel.__call__\(model\)"),
    "a loss takes two": (lambda: taught(objective=TakesTwo()), r"got TakesTwo.__call__\(prediction, labels\)"),
    "a loss is not summed": (lambda: taught(objective=ForgetsToSum()), r"got a loss of shape \(3, 1, 2\)"),
    "a model of another task": (lambda: train(so.gated(so.Parity(16, 4))), "make it from the task"),
    "a mask as an array": (lambda: so.positional(TASK, mask=np.ones((3, 11))), "got mask=array"),
    "a lambda in a stored run": (
        lambda: so.Store(tempfile.mkdtemp()).train(so.Run(so.positional(TASK, mask=rule), [stage()]), [0]),
        "is local or a lambda",
    ),
}


def outcome(mistake):
    """The error's kind and text, seconds, and how many programs were compiled."""
    compiled, begun = [], time.perf_counter()
    kind, text = "nothing", ""
    with compiling(lambda begins, seconds: None if begins else compiled.append(seconds)):
        try:
            mistake()
        except Exception as error:
            kind, text = type(error).__name__, str(error)
    return kind, text, time.perf_counter() - begun, len(compiled)


if __name__ == "__main__":
    json.dump({name: outcome(mistake) for name, (mistake, _) in MISTAKES.items()}, sys.stdout)
