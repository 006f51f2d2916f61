"""Closed forms against what they close: enumeration, integration, softmax, or the statement written out once more."""

import itertools
import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats

from sorites.tasks.gates import GATES
from sorites.theory import count_chain, reward_flow, serial_chain, sign_dynamics, sparse_attention
from sorites.theory.precision import in_float64


def signs(count):
    return np.array(list(itertools.product((1, -1), repeat=count)))


def test_gates_as_polynomials():
    for name, (constant, linear, both) in count_chain.GATE_COEFFICIENTS.items():
        for a, b in itertools.product((1, -1), repeat=2):
            assert constant + linear * (a + b) + both * a * b == int(GATES[name](jnp.asarray(a), jnp.asarray(b))), name


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_moments_of_signs_with_a_given_sum(size):
    every = signs(size)
    for total in range(-size, size + 1, 2):
        those = every[every.sum(axis=1) == total]
        means = [np.prod(those[:, :order], axis=1).mean() if order <= size else 0.0 for order in (1, 2, 3)]
        found = count_chain.moments(jnp.asarray([float(total)]), size)
        expected = means if size > 1 else [means[0], 0.0, 0.0]
        assert [float(each[0]) for each in found] == pytest.approx(expected, abs=1e-6)


def test_sums_below_a_level():
    """Six bits, a tree of four, uniform attention: level 2 reads two signs, each +1 with chance (1 + q(S/6)) / 2."""
    assert count_chain.level_sizes(6, 4) == [6, 2, 1]

    def link(z):
        return 2 * z**2 - 1

    found = in_float64(lambda: count_chain.binomial(5, jnp.asarray([0.0, 0.3, 1.0])))()
    totals, chances = in_float64(count_chain.below)(6, 4, link, 2)
    expected = np.array([[stats.binom.pmf(k, 5, p) for k in range(6)] for p in (0.0, 0.3, 1.0)])
    assert found == pytest.approx(expected, abs=1e-12)
    ends = np.zeros(3)
    for row in signs(6):
        plus = (1 + link(row.mean())) / 2
        ends += np.array([(1 - plus) ** 2, 2 * plus * (1 - plus), plus**2]) / 64
    assert totals.tolist() == [-2, 0, 2]
    assert chances == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize(("keys", "rate", "steps"), [(6, 0.3, 1), (5, 0.7, 3), (2, 0.5, 2)])
def test_attention_after_sign_steps(keys, rate, steps):
    """Two scores rose by the rate, the others fell by it, s times."""
    scores = special.softmax(rate * steps * np.array([1, 1, *[-1] * (keys - 2)]))
    assert sign_dynamics.child_share(keys, rate, steps) == pytest.approx(scores[0])
    if keys > 2:
        assert sign_dynamics.other_share(keys, rate, steps) == pytest.approx(scores[-1])
    error = np.abs(scores - np.array([0.5, 0.5, *[0] * (keys - 2)])).sum()
    assert sign_dynamics.column_error(keys, rate, steps) == pytest.approx(error)
    if keys > 2:
        assert sign_dynamics.rate_for_error(keys, sign_dynamics.column_error(keys, rate)) == pytest.approx(rate)


@pytest.mark.parametrize("gate", ["parity", "xor", "and", "or"])
@pytest.mark.parametrize("keys", [3, 6, 9])
def test_where_a_level_is_generated_right(gate, keys):
    """At the threshold the worst input is on the edge: (children's margin)^2 = 1/2, or its mean at -1/2."""
    rate = sign_dynamics.generation_threshold(gate, keys)
    child, other = (law(keys, rate, 1) for law in (sign_dynamics.child_share, sign_dynamics.other_share))
    rest = (keys - 2) * other
    if gate in ("parity", "xor"):
        assert (2 * child - rest) ** 2 == pytest.approx(0.5)  # children agree, all others disagree
    else:
        assert 2 * child == pytest.approx(3 * rest)
    assert sign_dynamics.generation_threshold(gate, 2) == -math.inf


def test_tails_and_means_of_signs():
    every = signs(5)
    for chance in (0.3, 0.8):
        weights = np.prod(np.where(every > 0, chance, 1 - chance), axis=1)
        totals = every.sum(axis=1)
        assert sign_dynamics.strict_tail(5, chance) == pytest.approx(weights[totals > -1].sum())
        assert sign_dynamics.strict_tail(5, chance, False) == pytest.approx(weights[totals >= -1].sum())
    # E of 2 (S/D)^2 - 1 over four independent signs of mean 0.6
    weights = np.prod(np.where(signs(4) > 0, 0.8, 0.2), axis=1)
    mean = (weights * (2 * signs(4).mean(axis=1) ** 2 - 1)).sum()
    assert sign_dynamics.parity_mean(4, 0.36) == pytest.approx(mean)


def test_pulls_at_uniform_attention():
    """The hinge's descent 2 (2/D) y z (y_p - z) summed over a right prefix of six signs; parity of the first two."""
    every, scale = signs(6), 4 / (3 * 6)
    z, label = every.mean(axis=1), every[:, 0] * every[:, 1]
    pulls = [scale * (label * z * (every[:, place] - z)).mean() for place in (0, 5)]
    assert sign_dynamics.forced_separation(6, 3) == pytest.approx(pulls)
    squares, chances = np.array([0.0, 0.25, 1.0]), np.array([0.5, 0.25, 0.25])
    by_hand = 4 / (3 * 25) * (0.5 * 1 * 1 + 0.25 * 0.75 * 1.5 + 0.25 * 0 * 3)
    assert sign_dynamics.parity_separation(5, 3, squares, chances) == pytest.approx(by_hand)


def test_pulls_along_a_serial_chain():
    """y_1 = 2 (S/d)^2 - 1 in the mean, then y_2 = 2 z^2 - 1 with z over d + 1 keys; 2 psi' = 4 z, label y_1 x_3."""
    bits = 5
    total = np.zeros(bits + 1)
    for row in signs(bits):
        first = 2 * row.mean() ** 2 - 1
        for thought, chance in ((1, (1 + first) / 2), (-1, (1 - first) / 2)):
            tokens = np.append(row, thought)
            z, label = tokens.mean(), thought * row[2]
            total += chance / 2**bits * 2 * z * label * (tokens - z) * 2 / (bits + 1) / 2
    found = serial_chain.reward_pull(bits, 2)
    ratio = found.thought / total[-1]
    assert found.input / total[2] == pytest.approx(ratio)
    assert found.other / total[0] == pytest.approx(ratio)
    assert found.thought + found.input + (bits - 1) * found.other == pytest.approx(0, abs=1e-12)
    assert serial_chain.first_pull(5) == pytest.approx((6 / 25, -4 / 25))
    assert serial_chain.filtered_pull(5) == pytest.approx((8 / 36, -4 / 36))
    assert serial_chain.reward_bound(5) == pytest.approx(2 * 4 * 20 / 6**4)
    assert found.input >= serial_chain.reward_bound(5)


@pytest.mark.parametrize("thought", [2, 3, 4])
def test_pulls_on_later_thoughts_by_enumeration(thought):
    """y_j is +1 with probability z^2, z the mean of its keys: the inputs and y_{j-1}; its label is y_{j-1} x_{j+1}."""
    bits, total = 6, np.zeros(7)
    for row in signs(bits):
        plus = row.mean() ** 2  # the chance of y_1 = +1
        for _ in range(thought - 2):
            plus = sum(chance * np.append(row, before).mean() ** 2 for before, chance in ((1, plus), (-1, 1 - plus)))
        for before, chance in ((1, plus), (-1, 1 - plus)):
            tokens = np.append(row, before)
            z, label = tokens.mean(), before * row[thought]
            total += chance / 2**bits * 2 * z * label * (tokens - z)  # psi' (tokens - z), psi = z^2
    found = serial_chain.reward_pull(bits, thought)
    assert found.thought == pytest.approx(total[-1])
    assert found.input == pytest.approx(total[thought])
    assert found.other == pytest.approx(np.delete(total, [thought, bits]).mean())


def test_the_flow_of_the_reward():
    """dt/du = (k-1) (d - 2 + 2u)^3 / (4 d u^3), and u / (d - 2 + 2u) is the child's share."""
    keys, tokens = 7, 3
    for growth in (1.5, 4.0):
        spent, _ = integrate.quad(lambda u: tokens * (keys - 2 + 2 * u) ** 3 / (4 * keys * u**3), 1, growth)
        assert reward_flow.time_at(growth, keys, tokens) == pytest.approx(spent)
        child = special.softmax([math.log(growth)] * 2 + [0] * (keys - 2))[0]
        assert reward_flow.share(growth, keys) == pytest.approx(child)
        assert reward_flow.growth_at(child, keys) == pytest.approx(growth)
        assert reward_flow.escape_time(keys, tokens, child) == pytest.approx(spent)
    assert reward_flow.escape_time(2, tokens) == 0
    assert reward_flow.escape_time(400, 3) == pytest.approx(3 * 400**2 / 8, rel=0.03)
    late = 1e6
    child, other = reward_flow.late_shares(keys, tokens, reward_flow.time_at(late, keys, tokens))
    assert child == pytest.approx(reward_flow.share(late, keys), rel=1e-4)
    assert other == pytest.approx(1 / (keys - 2 + 2 * late), rel=1e-3)


def test_rewards_of_one_and_two_levels():
    """The terms written out: E[y] of a product of attention sums, over distinct bits."""
    rng = np.random.default_rng(0)
    first, pairs = rng.random((2, 5)), np.array([[0, 3], [1, 4]])
    one = 4 / 3 * (first[0, 0] * first[0, 3] + first[1, 1] * first[1, 4])
    assert reward_flow.one_step_reward(first, pairs, 3) == pytest.approx(one)
    second = np.array([[0.3, 0.6]])
    both = 0.0
    for a, b, c, e in itertools.permutations((0, 3, 1, 4)):
        both += 0.3 * 0.6 * first[0, a] * first[0, b] * first[1, c] * first[1, e]
        both += 0.6 * 0.3 * first[1, a] * first[1, b] * first[0, c] * first[0, e]
    assert reward_flow.two_step_reward(first, second, pairs, 3) == pytest.approx(8 / 3 * both)
    assert reward_flow.initial_ratio(10, 4) == pytest.approx(24 * 0.5 / 100)


def test_signals_of_the_three_steps():
    assert sparse_attention.leftover_signal(3.0, 2, 4) == pytest.approx(3 / (16 * 2 * 5))
    assert sparse_attention.attention_jump(2.0, 3.0, 2, 5, 4) == pytest.approx(6 / (16 * 2 * 25))
    assert sparse_attention.attention_jump(2.0, 3.0, 2, 8, 4) == pytest.approx(7 / 8 * 6 / (128 * 2 * 64))
    assert sparse_attention.near_orthogonality(2, 8, 0.5) == pytest.approx(math.sqrt(2 * math.log(256) / 8))
    assert sparse_attention.combination_error(8, 0.5, 3.0) == pytest.approx(math.sqrt(2 * math.log(4) / 8 * 3))
    found = sparse_attention.table_bounds(4, 9, 2, 50, 0.5)
    each, every = math.log(300 * 4 * 50 * 2), math.log(300 * 2 * 4 * 50 * 2)
    assert found["delta"] == found["alpha"] == pytest.approx((100 * each) ** 0.5)
    assert found["beta"] == pytest.approx((900 * each) ** 0.5 / 4)
    assert found["psi"] == pytest.approx((4 * 450 * every) ** 0.5 / 4)
    assert found["gamma"] == pytest.approx((4 * math.log(1600)) ** 0.5 / 4)
    assert found["zeta"] == pytest.approx(8 * (450 * every) ** 0.5 / 4)


@pytest.mark.parametrize("epsilon", [1.0, 0.5])
def test_the_literal_setting_is_assumption_2(epsilon):
    """At n = e^40 the logarithms are those of the numbers, and each requirement starts where its sides cross."""
    log_size, delta = 40.0, 0.2
    n, scale = math.exp(log_size), log_size - math.log(delta)
    sparsity, samples = n / scale**4, 1.28e7 / epsilon**2 * n * scale**20
    neurons = 2 * sparsity
    first, last = neurons * samples**0.5 * epsilon / (100 * scale), 4 * epsilon / 3 * sparsity
    wide, tail = 16 * sparsity * scale, math.log(100 * samples * neurons / delta)
    expected = {"n": n, "log n": log_size, "k": sparsity, "d": sparsity * scale**1.1, "wide d": wide, "m": neurons,
                "B": samples, "eta0": first, "eta2": last, "tail": tail, "one": math.e}  # fmt: skip
    found = sparse_attention.literal_setting(log_size, delta, epsilon)
    assert {name: float(pair @ [log_size, 1]) for name, pair in found.items()} == pytest.approx(
        {name: math.log(value) for name, value in expected.items()}
    )
    gaps = {
        "k >= 2": 2 / sparsity,
        "eta0 + eta1 < 5 n eta2 (Lemma 5.8)": 2 * first / (5 * n * last),
        "eta0 <= m n eps / 120 (Lemma 5.4)": first * 120 / (neurons * n),
        "B < n k (Lemma 5.1)": samples / (n * sparsity),
        "d^2 < n k / log n, d = 16 k log(n/delta) (Theorem 1)": wide**2 * log_size / (n * sparsity),
        "sqrt(4 k log(100 B m / delta) / d) < 1/100 (Lemma 10)": 100 * (4 * sparsity * tail / expected["d"]) ** 0.5,
    }
    for name, gap in sparse_attention.REQUIREMENTS.items() if epsilon == 1 else ():
        assert float(gap(found) @ np.array([log_size, 1])) == pytest.approx(math.log(gaps[name])), name
        start = 10 ** sparse_attention.requirement_starts(delta, epsilon)[name]
        for side, sign in ((1.001, -1), (0.999, 1)):
            there = float(gap(sparse_attention.literal_setting(start * side, delta, epsilon)) @ [start * side, 1])
            assert there * sign > 0 or start < 2.1, name
