"""RL and SFT on sparse Boolean functions (Lyu et al.): RL learns the whole chain at once, SFT step by step."""

from ..paper import Paper

paper = Paper(
    "rl-sft",
    "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently",
    "Bochen Lyu, Yiyang Jia, Xiaohao Cai, Zhanxing Zhu",
    2026,
    "arXiv:2511.17852v2",
    module=__name__,
)
