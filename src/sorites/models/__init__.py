"""One file per transformer."""

from .base import AbstractModel as AbstractModel
from .base import Defaults as Defaults
from .decoder import Decoder as Decoder
from .decoder import decoder as decoder
from .gated import Gated as Gated
from .gated import gated as gated
from .gpt import GPT as GPT
from .gpt import gpt as gpt
from .links import LINKS as LINKS
from .links import AbstractLink as AbstractLink
from .links import AbstractParityLink as AbstractParityLink
from .links import Cosine as Cosine
from .links import QuadraticLinear as QuadraticLinear
from .links import Quartic as Quartic
from .links import link_named as link_named
from .masks import MASKS as MASKS
from .network import Architecture as Architecture
from .network import Network as Network
from .network import network as network
from .open_gates import OpenGates as OpenGates
from .open_gates import open_gates as open_gates
from .perceptron import Perceptron as Perceptron
from .perceptron import perceptron as perceptron
from .policies import POLICIES as POLICIES
from .policies import Policy as Policy
from .policies import policy_for as policy_for
from .positional import Positional as Positional
from .positional import positional as positional
from .reader import Reader as Reader
from .reader import reader as reader
from .requ import Requ as Requ
from .requ import requ as requ
from .said import AbstractSaid as AbstractSaid
from .said import Classes as Classes
from .said import Odds as Odds
from .said import Signs as Signs
from .said import Spoken as Spoken
from .sparse import Sparse as Sparse
from .sparse import sparse as sparse

MODELS = {
    "gated": gated,
    "reader": reader,
    "open-gates": open_gates,
    "positional": positional,
    "perceptron": perceptron,
    "gpt": gpt,
    "decoder": decoder,
}
