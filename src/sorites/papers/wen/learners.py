"""Three reference learners of a sparse parity: what data allow when memory and time do not matter."""

import itertools
import math

import numpy as np


def _data(bits: int, sparsity: int, samples: int, seed: int):
    """Inputs, the secret in its order, and the running parities (the last one is the answer)."""
    generator = np.random.default_rng(seed)
    secret = generator.permutation(bits)[:sparsity]
    inputs = generator.integers(0, 2, (samples, bits))
    return inputs, secret, np.cumsum(inputs[:, secret], axis=1) % 2


def eliminated(bits: int, sparsity: int, samples: int, seed: int) -> bool:
    """Gaussian elimination over GF(2): n linear equations in n unknowns, n^2 bits of memory."""
    inputs, secret, thoughts = _data(bits, sparsity, samples, seed)
    rows = np.concatenate([inputs, thoughts[:, -1:]], axis=1).astype(np.uint8)
    rank, columns = 0, []
    for column in range(bits):
        found = np.flatnonzero(rows[rank:, column])
        if not len(found):
            continue
        pivot = rank + found[0]
        rows[[rank, pivot]] = rows[[pivot, rank]]
        others = np.flatnonzero(rows[:, column])
        rows[others[others != rank]] ^= rows[rank]
        columns.append(column)
        rank += 1
        if rank == len(rows):
            break
    guess = np.zeros(bits, int)
    guess[columns] = rows[: len(columns), -1]
    return rank == bits and sorted(np.flatnonzero(guess)) == sorted(secret)


def searched(bits: int, sparsity: int, seed: int) -> int:
    """Samples until only one secret is consistent, keeping all C(n, k) of them."""
    samples = 8 * math.ceil(math.log2(math.comb(bits, sparsity)) + 1)
    inputs, _, thoughts = _data(bits, sparsity, samples, seed)
    sets = np.array(list(itertools.combinations(range(bits), sparsity)))
    alive = np.ones(len(sets), bool)
    for count in range(samples):
        alive[alive] = inputs[count, sets[alive]].sum(axis=1) % 2 == thoughts[count, -1]
        if alive.sum() == 1:
            return count + 1
    return samples


def paired(bits: int, sparsity: int, samples: int, chain: bool, seed: int) -> bool:
    """Correlates every input bit with the next token given the current one, and believes the largest."""
    inputs, secret, thoughts = _data(bits, sparsity, samples, seed)
    signs = 1 - 2 * inputs
    if not chain:
        strength = np.abs(signs.T @ (1 - 2 * thoughts[:, -1]))
        return sorted(np.argsort(-strength)[:sparsity]) == sorted(secret)
    before = np.concatenate([np.zeros((samples, 1), int), thoughts[:, :-1]], axis=1)
    change = (1 - 2 * before) * (1 - 2 * thoughts)  # the sign that the step multiplies by
    return bool((np.argmax(np.abs(change.T @ signs), axis=1) == secret).all())
