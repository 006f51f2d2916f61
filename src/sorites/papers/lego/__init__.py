"""LEGO (Huang et al.): state tracking under group actions, length generalisation, recursive self-training."""
