"""Wen et al.: from sparse dependence to sparse attention."""
