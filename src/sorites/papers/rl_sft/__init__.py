"""RL and SFT on sparse Boolean functions (Lyu et al.): RL learns the whole chain at once, SFT step by step."""

from ..paper import Paper

paper = Paper(
    "rl-sft",
    "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently",
    "Bochen Lyu, Yiyang Jia, Xiaohao Cai, Zhanxing Zhu",
    2026,
    "arXiv:2511.17852v2",
    module=__name__,
    about=(
        "Reinforcement learning and supervised fine-tuning both make models reason in chains, but do they learn "
        "the same way? On sparse parities, ANDs and ORs with known chains the dynamics can be written down "
        "exactly: with a reward for every thought one sign update learns the whole chain at once, fine-tuning on "
        "the model's own thoughts learns one level per update, and a reward for the answer alone tells almost "
        "nothing."
    ),
    picture="finite-samples",
)
