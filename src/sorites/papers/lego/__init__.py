"""LEGO (Huang et al.): state tracking under group actions, length generalisation, recursive self-training."""

from ..paper import Paper

paper = Paper(
    "lego",
    "Transformers Provably Learn Chain-of-Thought Reasoning with Length Generalization",
    "Yu Huang, Zixin Wen, Aarti Singh, Yuejie Chi, Yuxin Chen",
    2025,
    "LEGO state tracking; the text carries neither title nor date",
    module=__name__,
    about=(
        "Trained on short chains, does a transformer reason right on long ones? The task is to track a state "
        "through a chain of group actions. The paper says that the group decides: on cyclic groups attention "
        "concentrates until the model is right at many times the length it was trained on, on symmetric groups it "
        "stops short, and training on its own answers at twice the length carries it on."
    ),
    picture="1a",
)
