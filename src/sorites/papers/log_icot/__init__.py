"""Log-ICoT (Huang et al.): the chain is internalised in log2 k stages."""

from ..paper import Paper

paper = Paper(
    "log-icot",
    "Transformers Provably Learn to Internalize Chain-of-Thought",
    "Yixiao Huang, Hanlin Zhu, Zixuan Wang, Jiantao Jiao, Stuart Russell, Somayeh Sojoudi, Song Mei",
    2026,
    "Log-ICoT; the year is that of its newest reference, the text carries no date",
    module=__name__,
    about=(
        "A model that writes its reasoning out pays for every written token. Can it learn to reason in its head? "
        "Implicit chain of thought takes the thoughts away one by one while it trains, in k - 1 stages for a "
        "parity of k bits; Log-ICoT takes away a whole level of the reasoning tree per stage, and the paper "
        "proves that log2 k stages of one rounded gradient step each are enough for a gated transformer with one "
        "layer per level."
    ),
    picture="2b",
)
