"""RL and SFT on sparse Boolean functions (Lyu et al.): RL learns the whole chain at once, SFT step by step."""
