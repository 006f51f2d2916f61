"""Entropy of language models from local folders: tiny ones with random weights, made here from their families' configs.

GSM8K's test set is used where $SORITES_GSM8K or ../shared/data/gsm8k-test.parquet is there.
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sorites.cli.main import main
from sorites.drawing import style
from sorites.errors import SpecError
from sorites.ledger import override, verify
from sorites.papers.registry import papers
from sorites.probes.pretrained import KINDS, entropies, shared_problems, tokens_of, weights_hash
from sorites.probes.problems import MODES, Problem, problems
from sorites.store import Store
from sorites.training import PLAIN

GSM8K = Path(os.environ.get("SORITES_GSM8K") or Path(__file__).parents[3] / "shared" / "data" / "gsm8k-test.parquet")
FAMILIES = ("gpt2", "qwen2", "llama", "mistral")


def made_up(count):
    """Sums with a worked answer; no two of one length."""
    return [
        {
            "question": f"Ada has {number} pens and buys 1,2{number:02d} more " + "and more " * (number % 7) + "?",
            "answer": f"{number} + 1,2{number:02d} = <<{number}+12{number:02d}>> " * (1 + number % 3)
            + f"\n#### 1,{200 + 2 * number}",
        }
        for number in range(10, 10 + count)
    ]


def rows_of(count):
    return [Problem(line, row["question"], row["answer"]) for line, row in enumerate(made_up(count), start=1)]


def make(place, family, layers=2, heads=4, room=400, words=None):
    """A model with random weights and a tokenizer of words and digits."""
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    split = tokenizers.pre_tokenizers.Sequence(
        [tokenizers.pre_tokenizers.Whitespace(), tokenizers.pre_tokenizers.Digits(individual_digits=True)]
    )
    texts = words or [f"{row['question']} {row['answer']} The answer is." for row in made_up(60)]
    found = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    vocab = {"<s>": 0, "?!": 1} | {word: number for number, word in enumerate(found, start=2)}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocab, unk_token="?!"))
    inner.pre_tokenizer = split
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="?!", bos_token="<s>").save_pretrained(place)
    if family == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=len(vocab),
            n_positions=room,
            n_embd=32,
            n_layer=layers,
            n_head=heads,
            initializer_range=0.15,
            bos_token_id=0,
            eos_token_id=0,
        )
        transformers.GPT2LMHeadModel(config).save_pretrained(place)
        return place
    kinds = {
        "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
        "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
        "mistral": (transformers.MistralConfig, transformers.MistralForCausalLM),
    }
    config_of, model_of = kinds[family]
    config = config_of(
        vocab_size=len(vocab), max_position_embeddings=room, hidden_size=8 * heads, intermediate_size=64,
        num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=heads // 2, initializer_range=0.15,
    )  # fmt: skip
    model_of(config).save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    return {family: make(place / family, family) for family in FAMILIES}


@functools.cache
def whole(folder):
    transformers = pytest.importorskip("transformers")
    return transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()


def from_whole_maps(folder, problem, mode):
    """The definition on all maps at once, in numpy."""
    torch, model = pytest.importorskip("torch"), whole(folder)
    ids, first = tokens_of(folder, problem, mode)
    with torch.no_grad():
        maps = model(input_ids=torch.tensor([ids]), output_attentions=True).attentions
    found = []
    for layer in maps:
        share = layer[0].double().numpy()[:, 1:]
        logs = np.log(share, out=np.zeros_like(share), where=share > 0)
        ratio = -(share * logs).sum(-1) / np.log(np.arange(2, len(ids) + 1))
        answer = ratio[:, max(first, 1) - 1 :]
        found.append([ratio.min(-1), ratio.mean(-1), answer.min(-1), answer.mean(-1)])
    return np.moveaxis(np.asarray(found), 0, 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_streamed_entropies_are_those_of_whole_maps(folders, family):
    rows = rows_of(40 if family == "qwen2" else 3)
    for mode in ("cot", "none") if family == "qwen2" else MODES:
        found = entropies(folders[family], rows, mode, PLAIN)
        assert found.shape == (len(rows), len(KINDS), 2, 4)
        expected = np.stack([from_whole_maps(folders[family], row, mode) for row in rows])
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert found[:, 0].std() > 1e-3  # heads differ: the comparison can fail


@pytest.mark.skipif(not GSM8K.is_file(), reason="GSM8K's test set is not here")
def test_the_real_problems(tmp_path):
    rows, skipped = problems(GSM8K)
    assert (len(rows), skipped) == (1319, [])
    assert rows[0].result == "18"
    folder = make(tmp_path / "qwen2", "qwen2", words=[f"{row.question} {row.answer}" for row in rows[:40]])
    some, _ = shared_problems(GSM8K, [folder], ("cot", "none"), 40)
    assert len(some) == 40
    for mode in ("cot", "none"):
        expected = np.stack([from_whole_maps(folder, row, mode) for row in some])
        np.testing.assert_allclose(entropies(folder, some, mode, PLAIN), expected, atol=1e-6)


def test_texts_and_controls(folders):
    problem = Problem(7, "Ada has 3 pens ?", "3 + 1,200 = 1,203 pens\n#### 1,203")
    assert problem.result == "1203"
    ids = {mode: tokens_of(folders["gpt2"], problem, mode) for mode in MODES}
    first = ids["cot"][1]
    assert {begin for _, begin in ids.values()} == {first}
    tails = {mode: tokens[first:] for mode, (tokens, _) in ids.items()}
    assert tails["cut"] == tails["cot"][: len(tails["none"])]
    assert len(tails["cut"]) == len(tails["none"]) < len(tails["cot"])
    assert sorted(tails["shuffled"]) == sorted(tails["cot"]) != tails["shuffled"]
    assert len(tails["random"]) == len(tails["cot"])
    assert 0 not in tails["random"]  # no special token
    assert ids == {mode: tokens_of(folders["gpt2"], problem, mode) for mode in MODES}


def test_malformed_rows_are_named_and_good_ones_kept(tmp_path):
    good = made_up(1)[0]
    lines = [
        good,
        {"question": "?"},
        good | {"answer": "no result"},
        good | {"answer": "#### "},
        good | {"question": 3},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), "{", "", "null", json.dumps(good)]))
    rows, skipped = problems(path)
    assert [row.line for row in rows] == [1, 9]
    assert [line for line, _ in skipped] == [2, 3, 4, 5, 6, 8]
    pl.DataFrame([good, {"question": None, "answer": "#### 1"}]).write_parquet(tmp_path / "rows.parquet")
    rows, skipped = problems(tmp_path / "rows.parquet")
    assert (rows[0].question, skipped[0].line) == (good["question"], 2)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(SpecError, match="Parquet"):
        problems(tmp_path / "bad.parquet")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    long = made_up(1)[0] | {"question": "more " * 500}
    path.write_text("\n".join(json.dumps(row) for row in [*made_up(30), long]) + "\n{\n")
    return path


def test_models_side_by_side_and_resumed(folders, data, tmp_path, capsys, monkeypatch):
    words = ["entropy", *map(str, folders.values()), "--data", str(data), "--store", str(tmp_path / "store")]
    seen = []

    def stopped(passage, real=sys.modules["sorites.probes.pretrained"].read_passage):
        if len(seen) == 3:
            raise KeyboardInterrupt
        seen.append(passage)
        return real(passage)

    stopped.__module__, stopped.__qualname__ = "sorites.probes.pretrained", "read_passage"
    monkeypatch.setattr("sorites.probes.pretrained.read_passage", stopped)
    assert main([*words, "--json", "-"]) == 130
    store = Store(tmp_path / "store")
    assert len(store.folders()) == 3
    monkeypatch.undo()
    capsys.readouterr()
    assert main([*words, "--json", "-"]) == 0
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert record["problems"] == 30
    assert [row["line"] for row in record["skipped"]] == [31, 32]
    assert "line 31" in err
    assert [Path(each["model"]).name for each in record["models"]] == list(FAMILIES)
    assert len(store.folders()) == 4 * 2 * 2  # models, texts, blocks
    direct = entropies(folders["llama"], rows_of(30), "none", PLAIN)[:, 0].mean(axis=0)
    np.testing.assert_allclose(record["models"][2]["entropy"]["none"], direct, atol=1e-6)
    assert main([*words[:2], *words[5:], "--tokens", "answer", "--reduce", "mean"]) == 0
    assert "layer" in capsys.readouterr().out


def test_other_weights_are_another_model(folders, tmp_path):
    one, other = weights_hash(folders["gpt2"]), weights_hash(make(tmp_path / "gpt2", "gpt2", layers=1))
    assert one != other
    assert one == weights_hash(folders["gpt2"])


def test_w26_with_its_controls(folders, data, tmp_path):
    claim = papers()["wen"].claims()["W26"]
    given = {"model": str(folders["qwen2"]), "specialised": str(folders["qwen2"]), "data": str(data), "problems": "30"}
    verdict = verify(claim, "quick", given, lab=Store(tmp_path / "store"))
    names = list(verdict.measured)
    assert sum(name.startswith("control: ") for name in names) == 7
    assert verdict.measured[names[-1]] == 1  # the same model is nowhere less sparse
    assert verdict.seeds == 30
    assert all(0 <= value <= 1 for value in verdict.measured.values())
    given["specialised"] = str(make(tmp_path / "deep", "qwen2", layers=3))
    with pytest.raises(SpecError, match="another shape"):
        verify(claim, "quick", given, lab=Store(tmp_path / "store"))


@pytest.mark.parametrize("id", ["wen/6", "wen/7"])
def test_figures_of_given_models(folders, data, tmp_path, id):
    figure = papers()["wen"].figures()[id]
    models = ",".join(str(folders[family]) for family in ("qwen2", "llama"))
    size = override(figure.sizes["quick"], {"models": models, "data": str(data), "problems": "10"})
    assert len(size.held) == 3
    frames = figure.measure(size, Store(tmp_path / "store"))
    assert set(frames["data"].select("model", "text").unique().rows()) == {
        ("qwen2", "none"), ("qwen2", "cut"), ("qwen2", "cot"), ("llama", "cot")
    }  # fmt: skip
    with style():
        assert len(figure.draw(frames, size).axes) == 2
    assert "qwen2" in figure.find(frames, size)
    assert "no finding" not in figure.find(frames, size)
    assert "no finding" in figure.find(figure.measure(figure.sizes["tiny"], PLAIN), figure.sizes["tiny"])
    with pytest.raises(SpecError, match="give --data"):
        override(figure.sizes["quick"], {"models": models})


MEMORY = """
import resource, sys
import torch
from sorites.probes import pretrained
from sorites.training import PLAIN
torch.set_num_threads(1)  # threads wait for each other on a busy machine; they share the maps
folder = pretrained.Path(sys.argv[1]).resolve()
rows, _ = pretrained.shared_problems(sys.argv[2], [folder], ["cot"], 40)
model = pretrained._model(folder)
pretrained._layers(model, [0] * 32, 16)  # what is loaded on first use
held = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
found = pretrained.entropies(folder, rows, "cot", PLAIN)
problems = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - held
pretrained._layers(model, [place % 8 for place in range(640)], 300)
print(len(found), problems, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - held)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_depth(tmp_path):
    """Peak beyond the weights over 40 problems, and over a text twice as long: 24 layers within 20 % of 6, where kept
    maps would take four times as much."""
    pytest.importorskip("torch")
    source = GSM8K if GSM8K.is_file() else tmp_path / "rows.jsonl"
    if source is not GSM8K:
        source.write_text("".join(json.dumps(row) + "\n" for row in made_up(40)))
    words = [f"{row.question} {row.answer} The answer is." for row in problems(source, 40)[0]]
    setting = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}

    def peaks(layers):
        folder = make(tmp_path / str(layers), "qwen2", layers=layers, room=700, words=words)
        line = [sys.executable, "-c", MEMORY, str(folder), str(source)]
        done = subprocess.run(line, capture_output=True, text=True, check=True, env=setting)
        count, *found = map(int, done.stdout.split())
        assert count == 40
        return found

    for shallow, deep in zip(peaks(6), peaks(24), strict=True):
        assert deep < 1.2 * shallow, (shallow, deep)


def test_bad_requests_get_one_sentence(folders, data, tmp_path, capsys):
    model = str(folders["gpt2"])
    for words, sentence in (
        ([str(tmp_path), "--data", str(data)], "config.json"),
        ([model, "--data", str(tmp_path / "none")], "check the path"),
        ([model, "--data", str(data), "--text", "cot,maybe"], "use these"),
        ([model, "--data", str(data), "--limit", "0"], "limit=0"),
        ([model, "--data", str(data), "--tokens", "some"], "tokens"),
    ):
        assert main(["entropy", *words, "--quiet"]) == 2
        err = capsys.readouterr().err
        assert sentence in err
        assert err.strip().count("\n") == 0
