"""Chains for others: JSON lines, Parquet, or a folder that `datasets.load_dataset` opens, block by block.

A row is the same whatever the count and the form: block b of a seed is drawn with a key of its own, and the secret is
that of the member with this seed. Memory does not grow with the count.
"""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..atomic import atomic_folder, atomic_write
from ..errors import SpecError, require
from ..tasks import AbstractTask
from ..tasks.text import SEPARATOR
from .catalogue import words
from .loading import secret_of
from .spec import describe

if TYPE_CHECKING:
    import polars

FORMATS = ("jsonl", "parquet")
TOKENS = 2**22  # of a block, which bounds the memory
MOST = 2**16  # rows of a block


@dataclasses.dataclass(frozen=True)
class ChainRows:
    """`count` chains of a task, drawn with a seed. held_out: inputs that no other row has, where a task numbers them;
    distinct: numbered rows, which do not repeat."""

    task: AbstractTask
    count: int
    seed: int = 0
    distinct: bool = False
    held_out: bool = False

    def check(self) -> None:
        require(self.count >= 1, f"data have a row or more: count={self.count}; use 1 or more")
        if self.distinct:
            room = self.task.held_out if self.held_out else self.task.trainable
            kind = "held-out" if self.held_out else "training"
            require(self.count <= room, f"this task has {room:,} distinct {kind} rows: count={self.count}; use fewer")

    @property
    def block(self) -> int:
        """Rows drawn at once: a function of the task alone, so that no row depends on the count."""
        layout = self.task.layout
        fit = max(TOKENS // (layout.positions * layout.slots), 1)
        return min(MOST, 1 << (fit.bit_length() - 1))

    def tables(self, listener: Callable[[int], None] | None = None) -> "Iterator[polars.DataFrame]":
        """The rows, a block at a time; the listener hears how many there are so far."""
        self.check()
        task, secret, size = self.task, secret_of(self.task, self.seed), self.block
        key = jax.random.fold_in(jax.random.key(self.seed), 16 + self.held_out)

        @eqx.filter_jit
        def drawn(task, secret, number):
            if self.distinct:
                numbers = (number * size + jnp.arange(size)).astype(jnp.uint32)
                chains = task.numbered(secret, numbers, self.held_out)
            else:
                chains = task.sample(secret, jax.random.fold_in(key, number), size)
            return task.alphabet.numbers(chains.tokens)

        for number in range(-(-self.count // size)):
            tokens = np.asarray(drawn(task, secret, jnp.asarray(number, jnp.uint32)))
            done = min((number + 1) * size, self.count)
            yield _table(task, secret, tokens[..., : done - number * size])
            if listener is not None:
                listener(done)


def _table(task: AbstractTask, secret: Any, numbers: np.ndarray) -> "polars.DataFrame":
    """Token numbers "position slot batch" as prompt, thoughts, answer and text."""
    import polars as pl

    layout, spelt = task.layout, pl.Series(task.words)
    tokens = {
        f"{place} {slot}": spelt.gather(pl.Series(numbers[place, slot].astype(np.uint32)))
        for place in range(layout.positions)
        for slot in range(layout.slots)
    }

    def spoken(places: range | list[int]) -> pl.Expr:
        names = [f"{place} {slot}" for place in places for slot in range(layout.slots)]
        return pl.concat_str(names, separator=" ")

    there = [layout.inputs + int(place) for place in np.flatnonzero(np.asarray(task.counted(secret)))]
    asked = layout.inputs + int(task.answer(secret))
    parts = pl.DataFrame(tokens).select(
        spoken(range(layout.inputs)).alias("prompt"),
        pl.concat_list([spoken([place]) for place in there]).alias("thoughts"),
        spoken([asked]).alias("answer"),
        spoken(there).alias("after"),
    )
    text = pl.concat_str("prompt", pl.lit(SEPARATOR), "after", separator=" ").alias("text")
    return parts.with_columns(text).drop("after")


def write_data(
    rows: ChainRows,
    path: str | Path,
    form: str = "parquet",
    test: int = 0,
    listener: Callable[[int], None] | None = None,
) -> Path:
    """A file where the path ends in .jsonl or .parquet, else a folder with the splits train and, of `test` rows, test;
    whole or absent."""
    path = Path(path)
    require(form in FORMATS, f"a format is one of {', '.join(FORMATS)}: format={form!r}; use one")
    alone = path.suffix in (".jsonl", ".json", ".ndjson", ".parquet")
    require(
        not alone or (path.suffix == ".parquet") == (form == "parquet"),
        f"a file is named after its format: {path.name} and format={form!r}; give one or the other another name",
    )
    require(not path.exists(), f"data make a new file or folder: {path} exists; choose another path")
    require(not test or not alone, f"two splits are a folder: test={test} and {path.name}; leave out the suffix")
    splits = {"train": rows} | ({"test": dataclasses.replace(rows, count=test, held_out=True)} if test else {})
    for each in splits.values():
        each.check()
    try:
        if alone:
            with atomic_write(path) as draft:
                _write(rows, draft, form, listener)
        else:
            with atomic_folder(path) as draft:
                (draft / "data").mkdir()
                for name, each in splits.items():
                    _write(each, draft / "data" / f"{name}.{form}", form, listener)
                (draft / "README.md").write_text(_card(splits, form))
    except OSError as error:
        raise SpecError(f"data are written to a path: {path} ({error.strerror}); choose another") from None
    return path


def _write(rows: ChainRows, path: Path, form: str, listener: Callable[[int], None] | None) -> None:
    if form == "jsonl":
        with path.open("wb") as file:
            for table in rows.tables(listener):
                table.write_ndjson(file)
        return
    import polars as pl
    from polars.io.plugins import register_io_source

    def source(with_columns, predicate, n_rows, batch_size):
        return rows.tables(listener)

    schema = dict.fromkeys(("prompt", "thoughts", "answer", "text"), pl.String) | {"thoughts": pl.List(pl.String)}
    register_io_source(source, schema=schema).sink_parquet(path, row_group_size=rows.block, engine="streaming")


def _card(splits: dict[str, ChainRows], form: str) -> str:
    """The dataset's README: which file is which split, what was drawn and what a row holds."""
    rows = splits["train"]
    files = "".join(f"  - split: {name}\n    path: data/{name}.{form}\n" for name in splits)
    secret = jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), secret_of(rows.task, rows.seed))
    counts = ", ".join(f"{each.count:,} rows in {name}" for name, each in splits.items())
    return (
        f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n\n# Chains: {type(rows.task).__name__}\n\n"
        f"{counts}; seed {rows.seed}. Drawn by sorites from\n\n    {words(describe(rows.task))}\n\nSecret: {secret}\n\n"
        f"`prompt`: the inputs. `thoughts`: every step, the last one is the answer unless the secret says otherwise. "
        f"`answer`: what is asked for. `text`: prompt, `{SEPARATOR}`, thoughts.\n"
    )
