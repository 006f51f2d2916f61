"""Claims about gradient flow with true labels (App. G): one step, two steps, and their times."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...ledger import Among, Between, Claim, Comparison, Domain, Evidence, Powers, Real, at_most, equal, shown
from ...supervision import expected_reward
from ...theory import reward_flow
from ...theory.precision import in_float64
from ...training import Lab
from ...training.flow import gradient_flow
from .exact import pretrained, reward_gradient, scattered, secret_of, with_weights
from .setting import CHOSEN, DEEP, EXACT, PAPER, Tree, TwoLevels, chosen
from .symmetric import Symmetric, reached, require_flow

COUPLED = 0.025  # of a time: what two paces without products of wrong bits may be off


@eqx.filter_jit
def _level_rewards(model, task, secret):
    levels = np.asarray(task.layout.levels)
    rows = [(levels == level) / task.layout.thoughts for level in range(1, task.layout.depth + 1)]
    return jnp.stack([expected_reward(model, task, secret, row, "truth") for row in rows])


def _pairs(task, secret) -> np.ndarray:
    return np.asarray(task.children(secret))[: task.sparsity // 2]


@in_float64
def _one_step(size: Tree) -> Evidence:
    task, tokens, d = size.task(), size.sparsity - 1, size.bits
    secret, model = secret_of(task), scattered(task)
    attention = np.asarray(model.full_attention())[: size.sparsity // 2, :d]
    pairs = _pairs(task, secret)
    reward = float(_level_rewards(model, task, secret)[0])
    first = (np.asarray(task.layout.levels) == 1) / tokens
    gradient = np.asarray(reward_gradient(model, task, secret, "truth", 1.0, first))[: size.sparsity // 2, :d]
    product = attention[np.arange(len(pairs)), pairs[:, 0]] * attention[np.arange(len(pairs)), pairs[:, 1]]
    formula = -8 / tokens * attention * product[:, None]  # Eq. 158
    np.put_along_axis(
        formula, pairs, 4 / tokens * product[:, None] * (1 - 2 * np.take_along_axis(attention, pairs, axis=1)), axis=1
    )

    def field(weights):  # one column, children first
        shares = jnp.exp(weights) / jnp.exp(weights).sum()
        pull = -8 / tokens * shares * shares[0] * shares[1]
        return pull.at[:2].add(4 / tokens * shares[0] * shares[1])

    growths = np.array([1.5, 3.0, d, 10 * d, 50 * d])
    times = np.array([0.0, *(reward_flow.time_at(u, d, tokens) for u in growths)])
    states = gradient_flow(eqx.filter_jit(field), np.zeros(d), times).states
    found = np.exp(states[1:, 0] - states[1:, -1])
    late = reward_flow.late_shares(d, tokens, times[-1])[1]
    ratio = [reward_flow.escape_time(many, tokens) / (tokens * many**2) for many in (10, 20, 50, 200, 1000, 10**6)]
    return Evidence(
        (
            equal("Eq. 157 - enumeration", 0, reward_flow.one_step_reward(attention, pairs, tokens) - reward, EXACT),
            equal("Eq. 158 - enumeration", 0, float(np.abs(formula - gradient).max()), EXACT),
            equal(
                "flow against Eq. 161: largest relative error of u", 0, float(np.abs(found / growths - 1).max()), 1e-7
            ),
            equal("drift of the sum of weights", 0, float(np.abs(states.sum(axis=1)).max()), 1e-9),
            equal("escape time / ((k-1) d^2), d = 1e6", 1 / 8, ratio[-1], 1e-4),
            *(shown(f"the same, d = {d}", 1 / 8, r) for d, r in zip((10, 20, 50, 200, 1000), ratio[:-1], strict=True)),
            at_most("Eq. 162 over the share elsewhere, at u = 50 d", late * (d - 2 + 2 * growths[-1]), 0.9),
        )
    )


@in_float64
def _two_steps(size: TwoLevels) -> Evidence:
    task, tokens = size.task(), size.sparsity - 1
    secret, half = secret_of(task), size.sparsity // 2
    compared: list[Comparison] = []
    for seed in (0, 1):
        model = scattered(task, seed)
        attention = np.asarray(model.full_attention())
        second = attention[half : half + size.sparsity // 4, size.bits : size.bits + half]
        law = reward_flow.two_step_reward(attention[:half, : size.bits], second, _pairs(task, secret), tokens)
        compared.append(
            equal(
                f"Eq. 167 - enumeration, weights {seed}", 0, law - float(_level_rewards(model, task, secret)[1]), EXACT
            )
        )
    weights = np.array(scattered(task, 2).weights)
    np.put_along_axis(weights[:half], _pairs(task, secret), 60.0, axis=1)
    learned = with_weights(pretrained(task), weights)
    above = np.asarray(learned.full_attention())[half : half + size.sparsity // 4, size.bits : size.bits + half]
    pairs = np.asarray(task.children(secret))[half : half + size.sparsity // 4] - size.bits
    law = reward_flow.one_step_reward(above, pairs, tokens)
    compared.append(
        equal(
            "Eq. 169 with constant 4/(k-1), level 1 learned",
            law,
            float(_level_rewards(learned, task, secret)[1]),
            EXACT,
        )
    )
    return Evidence(tuple(compared))


@in_float64
def _scales(size: TwoLevels) -> Evidence:
    task = size.task()
    secret = secret_of(task)
    gradient = np.asarray(reward_gradient(pretrained(task), task, secret, "truth", 0.0))
    upper = np.asarray(task.layout.levels) > 1
    rewards = np.asarray(_level_rewards(pretrained(task), task, secret))
    return Evidence(
        (
            equal(
                "largest gradient above level 1 at uniform attention", 0, float(np.abs(gradient[upper]).max()), 1e-15
            ),
            equal(
                "second over first reward term",
                reward_flow.initial_ratio(size.bits, size.sparsity),
                rewards[1] / rewards[0],
                EXACT,
            ),
            *(shown(f"reward of level {t + 1}", None, float(r)) for t, r in enumerate(rewards)),
        )
    )


@dataclasses.dataclass(frozen=True)
class Times:
    bits: tuple[int, ...] = (16, 32)
    sparsity: int = 8
    share: float = 0.4

    def __post_init__(self):
        require_flow(self.sparsity, self.share)


def step_times(bits: int, sparsity: int, steps: int, share: float, lab: Lab) -> tuple[list[float], float, float]:
    """When each level's children reach the share; Eq. 161's prediction for level 1; the second stage alone."""
    alone = reward_flow.escape_time(bits, sparsity - 1, share)
    next_alone = reward_flow.escape_time(sparsity // 2, sparsity - 1, share)
    symmetric = Symmetric(bits, sparsity, steps)
    flow = symmetric.flow(alone + 4 * next_alone, 4001, lab)
    return [reached(flow.times, column, share) for column in symmetric.shares(flow.states).T], alone, next_alone


def coupled_times(bits: int, sparsity: int, share: float) -> tuple[float, float]:
    """When each level's children reach the share, by two copies of Eq. 161's flow that drive each other: a level-1 token agrees with its
    label by 4 s^2, so level 2 runs at the pace (4 s^2)^2, and its reward adds 4 p^2 4 s^2 to level 1's pace (s, p: shares of a child)."""
    tokens, keys = sparsity - 1, np.array([bits, sparsity // 2])

    def field(logs):  # ln u of both levels
        growth = jnp.exp(logs)
        s, p = growth / (keys - 2 + 2 * growth)
        speed = 4 * keys * growth**2 / (tokens * (keys - 2 + 2 * growth) ** 3)  # u'/u of one level alone
        return speed * jnp.stack([1 + 16 * p**2 * s**2, (4 * s**2) ** 2])

    alone, stage = (reward_flow.escape_time(int(many), tokens, share) for many in keys)
    flow = gradient_flow(eqx.filter_jit(field), np.zeros(2), np.linspace(0, alone + 4 * stage, 4001))  # pyright: ignore[reportArgumentType]
    growth = np.exp(flow.states)
    first, second = (growth / (keys - 2 + 2 * growth)).T
    return reached(flow.times, first, share), reached(flow.times, second, share)


@in_float64
def _times(size: Times, lab: Lab) -> Evidence:
    compared: list[Comparison] = []
    for bits in size.bits:
        (first, second, *_), alone, stage = step_times(bits, size.sparsity, 2, size.share, lab)
        laws = coupled_times(bits, size.sparsity, size.share)
        for level, (law, found) in enumerate(zip(laws, (first, second), strict=True), start=1):
            compared.append(equal(f"d={bits}: time of level {level}", law, found, COUPLED * law))
        compared.append(at_most(f"d={bits}: time of level 1, against Eq. 161 alone", first, alone))
        compared.append(
            shown(f"d={bits}: time between the levels, against the second stage alone", stage, second - first)
        )
    return Evidence(tuple(compared))


CLAIMS = (
    Claim(
        "RS-25", PAPER, "Eqs. 157-162", "identity",
        "One step with true labels: reward (157), flow (158), solution (161) and the conserved sum of weights; children reach 1/4 after "
        "(k-1)d^2/8 for many bits. (162) is a late-time form: at u = 50 d (d >= 6) it is still well below the share elsewhere.",
        {"tiny": Tree(8, 8), "quick": Tree(10, 8)}, _one_step,
        domain=Domain({"bits": Between(6, 12), "sparsity": Powers(2, 8)}, chosen, CHOSEN),
        departures=("The last part was shown, not asserted, until a review, which had seen 0.817 measured at d = 8; the bound is 0.9.",), revised=True,
    ),
    Claim(
        "RS-26", PAPER, "Eqs. 163-169", "identity",
        "Two steps: the reward is the sum (167) over 24 permutations; once level 1 is learned the second term is exactly (157) with "
        "d replaced by k/2, so the constant in (169) is 4/(k-1).",
        {"tiny": TwoLevels(6, 4), "quick": TwoLevels(6, 4), "paper": TwoLevels(8, 8)}, _two_steps,
        domain=Domain({"bits": Between(4, 10), "sparsity": Powers(4, 8)}, chosen, CHOSEN),
    ),
    Claim(
        "RS-27", PAPER, "App. G.2", "identity",
        "With true labels every level above the first has exactly zero gradient at uniform attention, and the second reward term is "
        "24(1-2/k)/d^2 of the first.",
        {"tiny": TwoLevels(8, 8), "quick": TwoLevels(8, 8), "paper": TwoLevels(16, 8)}, _scales,
        domain=DEEP,
    ),
    Claim(
        "RS-28", PAPER, "App. G.2", "finite",
        "Two-step flow learns its levels one after the other, by two copies of (161) that drive each other: level 2 runs at the pace (4 s^2)^2, "
        "level 1 at 1 + 16 p^2 s^2, s and p the shares of a child on levels 1 and 2; both times come out within 2.5 % (d >= 8). So level 1 "
        "comes a little earlier than (161) alone says.",
        {"tiny": Times((16,), 8), "quick": Times(), "paper": Times((16, 32, 64))}, _times,
        domain=Domain(
            {"bits": Among((8,), (10,), (12,), (16,), (20,), (24,), (12, 16), (16, 32)), "share": Real(0.3, 0.45)},
            because="level 2 begins at a share of 1/4; with k = 16 the flow takes minutes",
        ),
        departures=("The catalogue gives 353.9 and 392.7 for d = 16, 1128.5 and 1169.0 for d = 32; the code finds 344.5 and 382.9, 1116.5 and "
                    "1154.5, and so does a separate Runge-Kutta integration of Eqs. 157 and 167 with every weight by itself.",
                    "Until an audit the times were compared with (161) within 5 % and with the second stage alone within 25 %, which fits d >= 16 and "
                    "share 0.4 only. The paces leave out products of wrong bits; 2.5 % was chosen after d = 8 to 32 had shown up to 2.1 %."), revised=True,
    ),
)  # fmt: skip
