"""Kim and Suzuki: parity is hard without a chain, one step with it, log2 k steps when the chain is the model's own."""

from ..paper import Paper

paper = Paper(
    "kim-suzuki",
    "Transformers Provably Solve Parity Efficiently with Chain of Thought",
    "Juno Kim, Taiji Suzuki",
    2025,
    "ICLR 2025; the text here is the workshop version, without experiments",
    module=__name__,
)
