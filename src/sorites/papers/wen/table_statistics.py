"""The statistics of Table 1 for one batch, by their definitions."""

import numpy as np
from jaxtyping import Bool, Float, Int


def table_statistics(
    tokens: Int[np.ndarray, "batch position"],
    targets: Int[np.ndarray, "batch thought"],
    order: Int[np.ndarray, " thought"],
    on: Bool[np.ndarray, "neuron thought 2"],
) -> dict[str, Float[np.ndarray, "..."]]:
    """delta[i, b], alpha[i, j, b1, b2] and its mean, beta[j, b1], psi[r, j, b1], gamma[i, b, i', b2],
    zeta[i, b, j, b1]; i runs over the queries n+1..n+k, j over all positions, `on` is 1(nu > 0)."""
    count, length = tokens.shape
    thoughts = len(order)
    first = length - thoughts
    position = first + 1 + np.arange(thoughts)  # i, 1-based
    sign = 1.0 - 2.0 * targets  # (-1)^{b[i+1]}
    hot = np.stack([tokens == 0, tokens == 1], axis=-1).astype(float)  # [s, position, bit]
    here = hot[:, first:]
    delta = np.einsum("si,sib->ib", sign, here)
    alpha = np.einsum("si,sjc,sib->ijcb", sign, hot, here)
    causal = np.arange(length)[None] <= (position - 1)[:, None]
    alpha = alpha * causal[:, :, None, None]
    mean = np.zeros_like(alpha)
    for row, target in enumerate(order):
        for seen in (0, 1):
            for own in (0, 1):
                mean[row, target, seen, own] = (
                    (-1) ** seen * count / 2 * (own == 0) if row == 0 else (-1) ** (seen + own) * count / 4
                )
    other = alpha * (np.asarray(order)[:, None] != np.arange(length)[None])[:, :, None, None]
    share = other / position[:, None, None, None]
    beta = share.sum(axis=(0, 3))
    psi = np.einsum("rib,ijcb->rjc", on.astype(float), share)
    both = np.einsum("rib,rkc->ibkc", on.astype(float), on.astype(float))
    same = np.einsum("ik,bc->ibkc", np.eye(thoughts), np.eye(2))
    gamma = (both - (1 + same) / 2 * len(on) / 2) / position[None, None, :, None]
    zeta = np.einsum("rib,rjc->ibjc", on.astype(float), psi)
    return {"delta": delta, "alpha": alpha, "mean": mean, "beta": beta, "psi": psi, "gamma": gamma, "zeta": zeta}
