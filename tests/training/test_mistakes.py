"""A newcomer's mistakes: each gets one sentence, soon, and before anything is compiled."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mistakes import MISTAKES

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def outcomes():
    """What every mistake gets, in a process without the checks of shapes that tests switch on."""
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "src")}
    words = [sys.executable, HERE / "mistakes.py"]
    return json.loads(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_sentence(outcomes, name):
    kind, text, seconds, compiled = outcomes[name]
    assert kind == "SpecError", text
    assert re.search(MISTAKES[name][1], text), text
    assert "\n" not in text
    assert text.count("; ") >= 1  # what to do
    assert seconds < 3
    assert compiled == 0
