"""Prefix x labels x where x signal, and where the gradient comes from."""

from .labels import AbstractLabels as AbstractLabels
from .labels import FromPrefix as FromPrefix
from .labels import Truth as Truth
from .prefix import AbstractPrefix as AbstractPrefix
from .prefix import Own as Own
from .prefix import Shown as Shown
from .prefix import rollout as rollout
from .signals import AbstractSignal as AbstractSignal
from .signals import CrossEntropy as CrossEntropy
from .signals import ExpectedReward as ExpectedReward
from .signals import Exponential as Exponential
from .signals import Hinge as Hinge
from .signals import Logistic as Logistic
from .signals import Reinforce as Reinforce
from .signals import Squared as Squared
from .signals import weighted as weighted
from .sources import AbstractSource as AbstractSource
from .sources import Enumerated as Enumerated
from .sources import Noisy as Noisy
from .sources import Pooled as Pooled
from .sources import Sampled as Sampled
from .supervision import Supervision as Supervision
from .supervision import direct as direct
from .supervision import inputs_only as inputs_only
from .supervision import teacher_forcing as teacher_forcing
from .supervision import without as without
