"""Wen et al.: from sparse dependence to sparse attention."""

from ..paper import Paper

paper = Paper(
    "wen",
    "From Sparse Dependence to Sparse Attention: Unveiling How Chain-of-Thought Enhances Transformer Sample Efficiency",
    "Kaiyue Wen, Huaqing Zhang, Hongzhou Lin, Jingzhao Zhang",
    2025,
    "ICLR 2025; arXiv:2410.05459",
    module=__name__,
    about=(
        "A chain of thought does not make a transformer able to compute a parity, for without one it can represent "
        "it too; it makes it cheaper to learn. The paper proves that without a chain and with little memory the "
        "samples needed grow exponentially in the number of secret bits, and with it about linearly, because each "
        "next token then depends on two earlier ones and attention becomes sparse. GPTs trained with and without "
        "the chain show both."
    ),
    picture="1a",
)
