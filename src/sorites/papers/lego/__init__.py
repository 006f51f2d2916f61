"""LEGO (Huang et al.): state tracking under group actions, length generalisation, recursive self-training."""

from ..paper import Paper

paper = Paper(
    "lego",
    "Transformers Provably Learn Chain-of-Thought Reasoning with Length Generalization",
    "Yu Huang, Zixin Wen, Aarti Singh, Yuejie Chi, Yuxin Chen",
    2025,
    "LEGO state tracking; the text carries neither title nor date",
    module=__name__,
)
