"""sorites: a laboratory for how transformers come to reason in chains.

The few names a researcher needs; everything else is one folder down.
"""

from .errors import SpecError as SpecError
from .models import GPT as GPT
from .models import MODELS as MODELS
from .models import AbstractModel as AbstractModel
from .models import Architecture as Architecture
from .models import Prediction as Prediction
from .models import gated as gated
from .models import gpt as gpt
from .models import open_gates as open_gates
from .models import policy_for as policy_for
from .models import positional as positional
from .models import reader as reader
from .probes import AbstractProbe as AbstractProbe
from .probes import Answer as Answer
from .probes import ChildMass as ChildMass
from .probes import Entropy as Entropy
from .probes import Levels as Levels
from .probes import Loss as Loss
from .store import Store as Store
from .supervision import AbstractSignal as AbstractSignal
from .supervision import ExactReward as ExactReward
from .supervision import FromPrefix as FromPrefix
from .supervision import Hinge as Hinge
from .supervision import Own as Own
from .supervision import PolicyGradient as PolicyGradient
from .supervision import Sampled as Sampled
from .supervision import Shown as Shown
from .supervision import Squared as Squared
from .supervision import Supervision as Supervision
from .supervision import Truth as Truth
from .supervision import credit as credit
from .supervision import direct as direct
from .supervision import process_reward as process_reward
from .supervision import self_generated as self_generated
from .supervision import teacher_forcing as teacher_forcing
from .supervision import weighted as weighted
from .supervision import without as without
from .tasks import AbstractTask as AbstractTask
from .tasks import Action as Action
from .tasks import Boolean as Boolean
from .tasks import Chain as Chain
from .tasks import Gate as Gate
from .tasks import Layout as Layout
from .tasks import Lego as Lego
from .tasks import Parity as Parity
from .tasks import Sequences as Sequences
from .tasks import action_named as action_named
from .training import CURRICULA as CURRICULA
from .training import GD as GD
from .training import Adam as Adam
from .training import Course as Course
from .training import Evaluation as Evaluation
from .training import History as History
from .training import Pupil as Pupil
from .training import Quantised as Quantised
from .training import Run as Run
from .training import Sign as Sign
from .training import Stage as Stage
from .training import linear_icot as linear_icot
from .training import log_icot as log_icot
from .training import stages as stages
from .training import teach as teach
from .training import train as train

__version__: str
