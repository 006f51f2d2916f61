"""One file per transformer. `gpt.gpt(task)` makes a GPT, `gated.gated(task)` a gated transformer, and so on."""

from . import decoder, gated, gpt, open_gates, perceptron, positional, reader
from .base import AbstractModel as AbstractModel
from .base import Defaults as Defaults
from .decoder import Decoder as Decoder
from .gated import Gated as Gated
from .gpt import GPT as GPT
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
from .open_gates import OpenGates as OpenGates
from .perceptron import Perceptron as Perceptron
from .policies import POLICIES as POLICIES
from .policies import Policy as Policy
from .policies import policy_for as policy_for
from .positional import Positional as Positional
from .prediction import AbstractPrediction as AbstractPrediction
from .prediction import ClassLogits as ClassLogits
from .prediction import SignLogits as SignLogits
from .prediction import SignMeans as SignMeans
from .prediction import SlotLogits as SlotLogits
from .reader import Reader as Reader
from .requ import Requ as Requ
from .sparse import Sparse as Sparse

MODELS = {
    "gated": gated.gated,
    "reader": reader.reader,
    "open-gates": open_gates.open_gates,
    "positional": positional.positional,
    "perceptron": perceptron.perceptron,
    "gpt": gpt.gpt,
    "decoder": decoder.decoder,
}
