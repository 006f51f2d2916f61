"""What is computed, step by step."""

from .actions import Action as Action
from .actions import action_named as action_named
from .base import AbstractTask as AbstractTask
from .boolean import Boolean as Boolean
from .boolean import Parity as Parity
from .chain import Chain as Chain
from .gates import GATES as GATES
from .gates import Gate as Gate
from .gates import gate_named as gate_named
from .layout import Layout as Layout
from .lego import Lego as Lego
from .lego import Vocabulary as Vocabulary
from .sequences import Secret as Secret
from .sequences import Sequences as Sequences
