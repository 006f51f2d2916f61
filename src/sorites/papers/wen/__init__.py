"""Wen et al.: from sparse dependence to sparse attention."""

from ..paper import Paper

paper = Paper(
    "wen",
    "From Sparse Dependence to Sparse Attention: Unveiling How Chain-of-Thought Enhances Transformer Sample Efficiency",
    "Kaiyue Wen, Huaqing Zhang, Hongzhou Lin, Jingzhao Zhang",
    2025,
    "ICLR 2025; arXiv:2410.05459",
    module=__name__,
)
