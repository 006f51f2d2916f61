"""Measurements of models."""

from .attention import ChildMass as ChildMass
from .attention import Entropy as Entropy
from .attention import child_masses as child_masses
from .attention import normalised_entropy as normalised_entropy
from .base import AbstractProbe as AbstractProbe
from .outcomes import Answer as Answer
from .outcomes import Levels as Levels
from .outcomes import Loss as Loss
from .separation import Separation as Separation
from .separation import separation as separation
from .written import OwnChain as OwnChain
from .written import Released as Released
