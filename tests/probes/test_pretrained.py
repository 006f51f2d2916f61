"""Entropy of a language model from a local folder: a tiny one with random weights, made here."""

import json
import math

import numpy as np
import pytest

from sorites.cli.main import main
from sorites.errors import SpecError
from sorites.probes.pretrained import entropies, final_answer, problems, texts

PROBLEM = {
    "question": "Ada has 3 pens and buys 1,200 more. How many?",
    "answer": "3 + 1,200 = <<3+1200=1203>>1,203\n#### 1,203",
}


def test_texts():
    assert final_answer(PROBLEM["answer"]) == "1203"
    assert texts(PROBLEM, "none")[1] == " The answer is 1203."
    assert texts(PROBLEM, "cot")[1] == " " + PROBLEM["answer"]
    assert sorted(texts(PROBLEM, "random")[1].split()) == sorted(PROBLEM["answer"].split())


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(SpecError, match="JSON lines"):
        problems(tmp_path / "none.jsonl")
    (tmp_path / "bad.jsonl").write_text('{"question": "?"}\n')
    with pytest.raises(SpecError, match="line 1"):
        problems(tmp_path / "bad.jsonl")
    with pytest.raises(SpecError, match="use one of these"):
        entropies(tmp_path, [PROBLEM], "maybe")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A GPT-2 of two layers whose tokens are bytes."""
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    place = tmp_path_factory.mktemp("model")
    vocab = {character: index for index, character in enumerate(sorted(set(json.dumps(PROBLEM) + " The answer is.")))}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel({**vocab, "?!": len(vocab)}, unk_token="?!"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner).save_pretrained(place)
    config = transformers.GPT2Config(vocab_size=len(vocab) + 1, n_positions=256, n_embd=16, n_layer=2, n_head=2)
    transformers.GPT2LMHeadModel(config).save_pretrained(place)
    return place


def test_a_small_model(folder, tmp_path, capsys):
    found = {mode: entropies(folder, [PROBLEM], mode) for mode in ("cot", "none", "cut", "random")}
    for values in found.values():
        assert values.shape == (2, 2)
        assert (values > 0.5).all()
        assert (values <= 1 + 1e-6).all()
    assert (found["cot"] <= entropies(folder, [PROBLEM], "cot", reduce="mean")).all()
    assert (found["cot"] <= entropies(folder, [PROBLEM], "cot", "answer") + 1e-6).all()
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(PROBLEM) + "\n")
    assert main(["entropy", str(folder), "--data", str(data), "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(record["entropy"]["cot"], found["cot"], rtol=1e-5)
    assert math.isclose(record["problems"], 1)
    assert main(["entropy", str(tmp_path), "--data", str(data)]) == 2
