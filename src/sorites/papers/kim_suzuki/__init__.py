"""Kim and Suzuki: parity is hard without a chain, one step with it, log2 k steps when the chain is the model's own."""

from ..paper import Paper

paper = Paper(
    "kim-suzuki",
    "Transformers Provably Solve Parity Efficiently with Chain of Thought",
    "Juno Kim, Taiji Suzuki",
    2025,
    "ICLR 2025; the text here is the workshop version, without experiments",
    module=__name__,
    about=(
        "Parity is the standard hard problem of gradient descent: no few bits say anything about the product of k "
        "of them. The paper proves that a one-layer transformer does not learn it without a chain against an "
        "oracle that errs a little, learns it in one gradient step when the true chain is shown, and in log2 k "
        "rounded steps when the chain must be its own, if a filter zeroes the levels that are not yet learned."
    ),
    picture="exp-k32",
)
