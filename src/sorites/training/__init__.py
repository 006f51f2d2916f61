"""Rules, stages, curricula, and the compiled ensemble."""

from .cache import use_compilation_cache as use_compilation_cache
from .curricula import CURRICULA as CURRICULA
from .curricula import linear_icot as linear_icot
from .curricula import log_icot as log_icot
from .curricula import stages as stages
from .ensemble import Trained as Trained
from .ensemble import train as train
from .history import History as History
from .progress import Progress as Progress
from .progress import reporting as reporting
from .rules import GD as GD
from .rules import RULES as RULES
from .rules import AbstractRule as AbstractRule
from .rules import Adam as Adam
from .rules import AdamW as AdamW
from .rules import Clip as Clip
from .rules import Decay as Decay
from .rules import Frozen as Frozen
from .rules import Normalised as Normalised
from .rules import Quantised as Quantised
from .rules import Sign as Sign
from .stage import Evaluation as Evaluation
from .stage import Run as Run
from .stage import Stage as Stage
from .stage import Until as Until
