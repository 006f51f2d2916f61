"""Measurements of a model on held-out chains."""

from .attention import ChildMass as ChildMass
from .attention import Entropy as Entropy
from .attention import HeadEntropy as HeadEntropy
from .attention import child_masses as child_masses
from .attention import head_entropies as head_entropies
from .attention import normalised_entropy as normalised_entropy
from .base import AbstractProbe as AbstractProbe
from .fourier import Fourier as Fourier
from .lengths import LengthCurve as LengthCurve
from .outcomes import READINGS as READINGS
from .outcomes import Enough as Enough
from .outcomes import Loss as Loss
from .outcomes import OnTask as OnTask
from .outcomes import Outcome as Outcome
from .outcomes import Released as Released
from .outcomes import Reward as Reward
from .separations import Separation as Separation
from .separations import separation as separation
