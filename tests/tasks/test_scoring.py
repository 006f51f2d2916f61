"""Text and back: words are the gate's own, true thoughts follow from the prompt, and what is wrong is found."""

import functools
import itertools
import json
import operator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.tasks import GATES, Boolean, Composition, Lego, Parity, Sequences
from sorites.tasks.rows import read_rows
from sorites.tasks.scoring import reply_of, score, true_thoughts
from sorites.tasks.text import inputs_of_prompt, numbers_of

TASKS = {
    "tree": Parity(9, 8),
    "serial and": Boolean(6, 4, "and", "serial"),
    "flat": Parity(6, 3, "flat"),
    "released": Sequences(8, 4, 2, "released", 4),
    "no room": Sequences(8, 0, 3, "paper", 4),
    "composition": Composition("S3", 5, 4),
    "lego": Lego("C3", 3, 6),
}
BITS = {
    "parity": operator.xor, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "nand": lambda a, b: 1 - (a & b), "nor": lambda a, b: 1 - (a | b),
}  # fmt: skip


def drawn(task, count=32):
    secret = task.draw(jax.random.key(0))
    return secret, np.asarray(task.alphabet.numbers(task.sample(secret, jax.random.key(1), count).tokens))


@pytest.mark.parametrize("name", GATES)
def test_a_gate_in_words_is_the_gate_of_bits(name):
    """`1 1` is `1` under and: written as the numbers of a GPT it would be `or`."""
    task = Boolean(2, 2, name, secret=(0, 1))
    for a, b in itertools.product((0, 1), repeat=2):
        reply = reply_of(task, {"prompt": f"{a} {b}", "answer": str(BITS[name](a, b))})
        assert score(task, task.draw(jax.random.key(0)), [reply]).answer.all(), (a, b)


@pytest.mark.parametrize("name", TASKS)
def test_words_are_told_apart(name):
    task = TASKS[name]
    assert len(set(task.words)) == task.alphabet.vocab == len(task.words)
    assert numbers_of(task, " ".join(task.words)) == list(range(task.alphabet.vocab))


@pytest.mark.parametrize("name", TASKS)
def test_true_thoughts_follow_from_the_inputs(name):
    task = TASKS[name]
    secret, numbers = drawn(task)
    inputs = task.layout.inputs
    found = eqx.filter_jit(true_thoughts)(task, secret, jnp.asarray(numbers[:inputs]))
    counted = np.asarray(task.counted(secret))
    np.testing.assert_array_equal(np.asarray(found)[counted], numbers[inputs:][counted])


def replies(task, secret, numbers, change=lambda thoughts, row: thoughts):
    words, inputs = np.asarray(task.words), task.layout.inputs
    for row in range(numbers.shape[-1]):
        text = [" ".join(words[position]) for position in numbers[:, :, row]]
        yield reply_of(task, {"prompt": " ".join(text[:inputs]), "thoughts": change(text[inputs:], row)})


@pytest.mark.parametrize("name", TASKS)
def test_the_truth_scores_all(name):
    task = TASKS[name]
    secret, numbers = drawn(task)
    found = score(task, secret, list(replies(task, secret, numbers)))
    assert found.answer.all()
    assert (found.first_wrong == 0).all()
    np.testing.assert_allclose(found.reward, 1)


def test_one_wrong_thought_is_found_and_paid_once():
    """A tree of 8: thought 2 is flipped, its parent stays; two of seven are not as their children demand."""
    task = TASKS["tree"]
    secret, numbers = drawn(task)
    flip = {"0": "1", "1": "0"}

    def wrong(thoughts, row):
        return [flip[word] if place == 1 else word for place, word in enumerate(thoughts)]

    found = score(task, secret, list(replies(task, secret, numbers, wrong)))
    assert found.answer.all()
    assert (found.first_wrong == 2).all()
    np.testing.assert_allclose(found.reward, (5 - 2) / 7, rtol=1e-6)

    def carried(thoughts, row):  # the mistake is carried on: only one step is at fault
        return [flip[word] if place in (1, 4, 6) else word for place, word in enumerate(thoughts)]

    found = score(task, secret, list(replies(task, secret, numbers, carried)))
    assert not found.answer.any()
    np.testing.assert_allclose(found.reward, (6 - 1) / 7, rtol=1e-6)


def test_what_cannot_be_read_is_wrong():
    task = TASKS["tree"]
    secret, numbers = drawn(task, 4)
    short = score(task, secret, list(replies(task, secret, numbers, lambda thoughts, row: thoughts[:6])))
    assert (short.first_wrong == 7).all()
    assert not short.answer.any()
    np.testing.assert_allclose(short.reward, (6 - 1) / 7, rtol=1e-6)
    noise = score(task, secret, list(replies(task, secret, numbers, lambda thoughts, row: ["?", *thoughts[1:]])))
    assert (noise.first_wrong == 1).all()
    np.testing.assert_allclose(noise.reward, (5 - 2) / 7, rtol=1e-6)  # and who reads it
    prompt = " ".join(np.asarray(task.words)[numbers[:9, 0, 0]])
    bare = score(task, secret, [reply_of(task, {"prompt": prompt, "answer": task.words[numbers[-1, 0, 0]]})])
    assert bare.answer.all()
    assert bare.first_wrong.tolist() == [-1]
    assert np.isnan(bare.reward).all()
    text = score(task, secret, [reply_of(task, {"prompt": prompt, "completion": ": 0 0 0 0 0 0 0"})])
    assert text.first_wrong[0] >= 0


def test_malformed_rows_are_named_by_line_and_good_ones_kept(tmp_path):
    task, path = TASKS["tree"], tmp_path / "answers.jsonl"
    good = {"prompt": "0 0 0 0 0 0 0 0 0", "answer": 0}
    lines = [json.dumps(good), "{", "", "[1]", json.dumps({"answer": 1}), json.dumps(good | {"prompt": "0 1"}),
             json.dumps(good | {"prompt": "0 0 0 0 x 0 0 0 0"}), json.dumps({"prompt": good["prompt"]}),
             json.dumps(good)]  # fmt: skip
    path.write_text("\n".join(lines))
    rows, skipped = read_rows(path, functools.partial(reply_of, task))
    assert [line for line, _ in rows] == [1, 9]
    assert [line for line, _ in skipped] == [2, 4, 5, 6, 7, 8]
    whys = " | ".join(why for _, why in skipped)
    for words in ("no JSON", "no object", "no prompt", "9 words: 2", "'x'", "no thoughts"):
        assert words in whys
    path.write_text("{\n")
    with pytest.raises(SpecError, match="line 1"):
        read_rows(path, functools.partial(reply_of, task))
    with pytest.raises(SpecError, match="check the path"):
        read_rows(tmp_path / "none", functools.partial(reply_of, task))
    with pytest.raises(SpecError, match="words"):
        inputs_of_prompt(task, "")
