"""Questions with worked answers, as GSM8K has them, and the texts that are made of one (wen, Appendix C.1).

A worked answer ends in `#### 1,203`. Beside the paper's two texts stand controls of the length: a minimum over more
tokens is smaller whatever they say.
"""

from pathlib import Path
from typing import Any, NamedTuple

from ..errors import require
from ..tasks.rows import Skipped, read_rows

MARK = "####"
MODES = {
    "cot": "the question and its worked answer",
    "none": "the question and 'The answer is [result].'",
    "cut": "the worked answer, cut to the tokens of the bare one",
    "shuffled": "the worked answer's tokens in random order",
    "random": "as many random tokens as the worked answer has",
}


class Problem(NamedTuple):
    line: int
    question: str
    answer: str

    @property
    def result(self) -> str:
        """What follows the mark, commas removed: 1,200 stays 1200 and does not become 200."""
        return self.answer.rsplit(MARK, 1)[-1].strip().replace(",", "")


def problems(path: str | Path, limit: int | None = None) -> tuple[list[Problem], list[Skipped]]:
    """The good problems of a file of JSON lines or Parquet, and the rows that are none."""
    require(limit is None or limit >= 1, f"a limit leaves a problem or more: limit={limit}; use 1 or more")
    rows, skipped = read_rows(path, _texts)
    return [Problem(line, *texts) for line, texts in rows][:limit], skipped


def _texts(row: dict[str, Any]) -> tuple[str, str]:
    for name in ("question", "answer"):
        text = row.get(name)
        require(isinstance(text, str) and bool(text.strip()), f"it has no {name}")
    require(bool(row["answer"].rpartition(MARK)[1]), f"its answer has no result after {MARK}")
    require(bool(row["answer"].rpartition(MARK)[2].strip()), f"its answer has nothing after {MARK}")
    return row["question"], row["answer"]


def continuation(problem: Problem, mode: str) -> str:
    """What follows the question."""
    return f" The answer is {problem.result}." if mode == "none" else f" {problem.answer}"
