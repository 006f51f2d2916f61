"""Groups and actions as algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sorites.errors import SpecError
from sorites.tasks import groups
from sorites.tasks.actions import Action, action_named, group_named, on_cosets, subset, with_synonyms
from sorites.tasks.groups import Group

GROUPS = ("C1", "C2", "C6", "D3", "D4", "S3", "S4", "A4", "A5", "Q8", "C2xC3", "C2xC2", "S3xC2")
ACTIONS = (*GROUPS, "S3/itself", "A5/itself", "Q8/itself", "D5", "S5")


@pytest.mark.parametrize("name", GROUPS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_groups_obey_their_laws(name, data):
    group = group_named(name)
    g, h, k = (data.draw(st.integers(0, group.order - 1)) for _ in range(3))
    product = group.product
    assert product[product[g, h], k] == product[g, product[h, k]]
    assert product[g, group.inverse[g]] == product[group.inverse[g], g] == 0
    subgroup = group.generated(np.array([g, h]))
    assert group.order % len(subgroup) == 0
    assert {g, h, 0} <= set(subgroup.tolist())


@pytest.mark.parametrize("name", ACTIONS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_actions_obey_their_laws(name, data):
    action = action_named(name)
    assert action.group is not None
    g, h = (data.draw(st.integers(0, action.actions - 1)) for _ in range(2))
    y = data.draw(st.integers(0, action.values - 1))
    assert action.table[action.group.product[g, h], y] == action.table[g, action.table[h, y]]
    orbit = len(set(action.table[:, y].tolist()))
    assert orbit * len(action.stabiliser(y)) == action.actions
    assert len(action.fibre(y, int(action.table[g, y]))) == len(action.stabiliser(y))
    assert action.simply_transitive == (action.transitive and action.actions == action.values)
    assert action.distractor_fraction() == pytest.approx(1 / action.values)
    relabelling = np.array(data.draw(st.permutations(range(action.values))))
    renamed = action.conjugated(relabelling)
    assert renamed.table[g, relabelling[y]] == relabelling[action.table[g, y]]


def test_known_groups():
    assert group_named("S4").derived_orders() == (24, 12, 4, 1)
    assert group_named("S5").derived_orders() == (120, 60)
    assert not group_named("A5").solvable
    assert group_named("Q8").solvable
    assert not group_named("Q8").abelian
    assert group_named("C2xC3").abelian
    assert sorted(np.diag(group_named("Q8").product).tolist()) == [0, 0, 1, 1, 1, 1, 1, 1]  # one element of order two
    assert np.array_equal(groups.dihedral(3).derived_orders(), groups.symmetric(3).derived_orders())


def test_cosets_synonyms_and_subsets():
    group = group_named("S4")
    cosets = on_cosets(group, np.array([1]))
    assert cosets.transitive
    assert cosets.values == 12
    natural = action_named("S4")
    assert on_cosets(group, natural.stabiliser(0)).values == 4
    assert with_synonyms(natural, 3).actions == 72
    assert action_named("C6*20").actions == 120
    assert action_named("S5[6]") == subset(action_named("S5"), 6)
    assert action_named("S5[6]").values == 5
    assert hash(action_named("C6")) != hash(action_named("C5"))


# A Latin square with an identity that is no group.
LOOP = np.array([[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: action_named("Z6"), "Z6"),
        (lambda: action_named("S3/cosets"), "itself"),
        (lambda: action_named("S9"), "points=9"),
        (lambda: action_named("D2"), "points=2"),
        (lambda: action_named("S5[999]"), "count=999"),
        (lambda: Action("own", np.array([[0, 0], [1, 0]])), "permutes the values"),
        (lambda: Action("own", np.array([[0, 1], [1, 0], [0, 1]]), group_named("C2")), "one row per element"),
        (lambda: Action("own", np.array([[1, 0], [0, 1]]), group_named("C2")), "respects the product"),
        (lambda: Group("g", np.array([[0, 1], [1, 1]])), "once"),
        (lambda: Group("g", np.array([[1, 0], [0, 1]])), "identity"),
        (lambda: Group("g", LOOP), "associative"),
        (lambda: groups.composed("g", np.array([[0, 1, 2], [1, 2, 0]])), "stay in a group"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused(make, words):
    with pytest.raises(SpecError, match=words):
        make()
