"""A GPT leaves as a Hugging Face folder and comes back: the same logits there, the same numbers here."""

import json
import logging

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.cli.main import main
from sorites.errors import SpecError
from sorites.models.gated import gated
from sorites.models.gpt import gpt
from sorites.models.gpt_huggingface import from_hf, to_hf
from sorites.probes import Outcome
from sorites.store import Store
from sorites.supervision import Sampled, direct
from sorites.tasks import Boolean, Composition, Lego, Parity
from sorites.training import Adam, Evaluation, Run, Until, stages

TASKS = {
    "parity": Parity(6, 4),
    "and": Boolean(6, 4, "and"),
    "composition": Composition("S3", 5, 4),
    "lego": Lego("C3", 2, 4),
}


def scattered(task, **fields):
    """Weights large enough that every part matters, biases and pad included."""
    fields = {"layers": 2, "heads": 2, "width": 16, "hidden": 20} | fields
    model = gpt(task, **fields).init(jax.random.key(0))
    keys = iter(jax.random.split(jax.random.key(1), 99))
    return jax.tree.map(lambda leaf: leaf + 0.3 * jax.random.normal(next(keys), leaf.shape, leaf.dtype), model)


def texts_of(task, count=5):
    """The chains, and what `sorites data` writes of them."""
    from sorites.store.data import _table

    secret = task.draw(jax.random.key(2))
    chains = task.sample(secret, jax.random.key(3), count)
    return chains, _table(task, secret, np.asarray(task.alphabet.numbers(chains.tokens)))["text"].to_list()


@pytest.fixture
def opened():
    """Opens a folder as a stranger would: no code of ours."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    logging.getLogger("transformers").setLevel(logging.ERROR)

    def open_folder(folder):
        model, info = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
        assert not any(info.values()), info  # nothing missing, nothing left over
        return model, transformers.AutoTokenizer.from_pretrained(folder)

    return open_folder


def same(one, other):
    one, other = one.with_weights_kept(), other.with_weights_kept()
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for here, there in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert here.dtype == there.dtype
        np.testing.assert_array_equal(np.asarray(here, np.float32), np.asarray(there, np.float32))


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("name", TASKS)
def test_text_to_logits_is_the_same_there(name, pad, tmp_path, opened):
    """From the text that `sorites data` writes, through their tokenizer and their model."""
    torch, task = pytest.importorskip("torch"), TASKS[name]
    model = scattered(task)
    hugging, tokenizer = opened(to_hf(model, tmp_path / "model", task.words, pad))
    chains, texts = texts_of(task)
    numbers, _ = model._sequence(chains)
    ids = torch.tensor(tokenizer(texts)["input_ids"])
    np.testing.assert_array_equal(ids[:, :-1].numpy(), numbers)
    theirs = hugging(input_ids=ids[:, :-1]).logits.detach().numpy()
    assert theirs.shape[-1] == task.alphabet.vocab + pad
    ours = eqx.filter_jit(jax.vmap(lambda one: model.net(one)[0]))(numbers)
    np.testing.assert_allclose(ours, theirs[..., : task.alphabet.vocab], atol=1e-5)
    same(from_hf(tmp_path / "model"), model)


def test_hidden_thoughts_are_read_there(tmp_path, opened):
    """A model taught with hidden thoughts: the pad is a token that is read and never said."""
    torch, task = pytest.importorskip("torch"), TASKS["parity"]
    model = scattered(task)
    hugging, tokenizer = opened(to_hf(model, tmp_path / "model", task.words, pad=True))
    chains, texts = texts_of(task)
    hidden = chains.with_shown(jnp.arange(task.layout.positions) < task.bits)
    prompts = [f"{text.split(':')[0]}: _ _" for text in texts]
    logits = hugging(input_ids=torch.tensor(tokenizer(prompts)["input_ids"])).logits.detach().numpy()
    margin = logits[:, -3:, 0] - logits[:, -3:, 1]
    np.testing.assert_allclose(model.predict_batch(hidden).margin[:, 0], margin.T, atol=1e-5)
    words = tokenizer(texts[0].split(":")[0] + ":", return_tensors="pt")
    said = hugging.generate(**words, max_new_tokens=3)[0, -3:].numpy()
    assert (said < 2).all()
    own = model.generate(chains, jax.random.key(0), "greedy")[task.bits :, 0, 0]
    np.testing.assert_array_equal(said, (1 - np.asarray(own)) // 2)


def test_what_transformers_saved_comes_back(tmp_path, opened):
    """Also after somebody trained it on: their save keeps what is ours."""
    torch, task = pytest.importorskip("torch"), TASKS["parity"]
    model = scattered(task)
    hugging, _ = opened(to_hf(model, tmp_path / "model", task.words))
    with torch.no_grad():
        hugging.transformer.ln_f.bias += 1
    hugging.save_pretrained(tmp_path / "again")
    same(from_hf(tmp_path / "again"), eqx.tree_at(lambda m: m.net.final.shift, model, model.net.final.shift + 1))


def test_any_gpt2_is_read(tmp_path):
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    config = transformers.GPT2Config(vocab_size=7, n_positions=9, n_embd=8, n_layer=2, n_head=2)
    theirs = transformers.GPT2LMHeadModel(config).eval()
    theirs.save_pretrained(tmp_path / "model", max_shard_size="2KB")
    assert (tmp_path / "model" / "model.safetensors.index.json").is_file()
    model = from_hf(tmp_path / "model")
    assert (model.alphabet.vocab, model.alphabet.signs, model.start) == (7, False, False)
    tokens = np.arange(7)
    expected = theirs(input_ids=torch.tensor(tokens[None])).logits[0].detach().numpy()
    np.testing.assert_allclose(model.net(jnp.asarray(tokens))[0], expected, atol=1e-5)
    task = Composition("C7", 5)
    assert from_hf(tmp_path / "model", task).refuses(task.layout, task.alphabet) is None
    with pytest.raises(SpecError, match="7 tokens, the task 2"):
        from_hf(tmp_path / "model", Parity(4, 2))


def test_half_precision_survives(tmp_path):
    model = gpt(TASKS["parity"], width=16, dropout=0.1, weights="bfloat16").init(jax.random.key(0))
    same(from_hf(to_hf(model, tmp_path / "model")), model)


def test_refusals(tmp_path):
    task = TASKS["parity"]
    with pytest.raises(SpecError, match="only a GPT"):
        to_hf(gated(task), tmp_path / "model")
    (tmp_path / "there").mkdir()
    with pytest.raises(SpecError, match="exists"):
        to_hf(scattered(task), tmp_path / "there")
    with pytest.raises(SpecError, match="a Hugging Face folder has"):
        from_hf(tmp_path / "there")
    folder = to_hf(scattered(task), tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"activation_function": "relu"}))
    with pytest.raises(SpecError, match="'relu'"):
        from_hf(folder)
    (folder / "config.json").write_text(json.dumps(config | {"n_layer": 3}))
    with pytest.raises(SpecError, match="is nothing"):
        from_hf(folder)


def test_a_stored_member_is_exported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["run", "--task", "parity", "--model", "gpt", "--supervision", "teacher-forcing", "--seeds", "2"]
    assert main([*words, "--steps", "2", "--every", "2", "--batch", "8", "--quiet"]) == 0
    (path,) = (tmp_path / "sorites-store" / "members").iterdir()
    assert main(["export", path.name, "--out", "hf"]) == 2
    assert "give a seed" in capsys.readouterr().err
    assert main(["export", path.name, "--to", "hf", "--out", "hf", "--member", "1"]) == 0
    assert "config.json" in {each.name for each in (tmp_path / "hf").iterdir()}
    same(from_hf(tmp_path / "hf"), Store(tmp_path / "sorites-store").load(path.name, 1).model)


def test_an_export_warns_only_of_a_goal_that_hides_thoughts(tmp_path, capsys):
    task = Parity(8, 4)
    evaluation = Evaluation(2, 8, (Outcome(), Outcome("rolled")))
    for goal, warns in (("padded.answer", True), ("rolled.answer", False)):
        store = Store(tmp_path / goal)
        store.train(Run(gpt(task, width=8), stages(task, [direct(task.layout)], Sampled(8), Adam(0.1), 2, evaluation),
                        Until(goal)), [0])  # fmt: skip
        (folder,) = store.folders()
        words = ["export", folder.path.name, "--out", str(tmp_path / f"{goal} model"), "--store", str(store.root)]
        assert main(words) == 0
        assert ("--pad adds one" in capsys.readouterr().err) == warns
