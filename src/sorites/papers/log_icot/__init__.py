"""Log-ICoT (Huang et al.): the chain is internalised in log2 k stages."""

from ..paper import Paper

paper = Paper(
    "log-icot",
    "Transformers Provably Learn to Internalize Chain-of-Thought",
    "Yixiao Huang, Hanlin Zhu, Zixuan Wang, Jiantao Jiao, Stuart Russell, Somayeh Sojoudi, Song Mei",
    2026,
    "Log-ICoT; the year is that of its newest reference, the text carries no date",
    module=__name__,
)
