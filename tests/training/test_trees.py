"""Members moved between trees, by numpy where that compiles nothing: the same arrays, copies, keys included."""

import jax
import jax.numpy as jnp
import numpy as np

from sorites.training.trees import as_members, copied, joined, put, take


def members():
    return {"weights": jnp.arange(12, dtype=jnp.bfloat16).reshape(4, 3), "key": jax.random.split(jax.random.key(0), 4),
            "word": "static"}  # fmt: skip


def same(one, other):
    assert one["word"] == other["word"] == "static"
    assert one["weights"].dtype == other["weights"].dtype == jnp.bfloat16
    np.testing.assert_array_equal(np.asarray(one["weights"], float), np.asarray(other["weights"], float))
    np.testing.assert_array_equal(*(jax.random.key_data(each["key"]) for each in (one, other)))


def test_what_is_taken_and_put_back_is_where_it_was():
    everyone = members()
    some = take(everyone, np.array([3, 1]))
    np.testing.assert_array_equal(np.asarray(some["weights"], float), [[9, 10, 11], [3, 4, 5]])
    same(put(everyone, np.array([3, 1]), some), everyone)
    same(joined([take(everyone, np.array([index])) for index in range(4)]), everyone)
    same(as_members([take(everyone, index) for index in range(4)]), everyone)


def test_a_copy_outlives_what_it_was_made_of():
    everyone = members()
    kept, one, some = copied(everyone), take(everyone, 0), take(everyone, slice(None))
    everyone["weights"].delete()
    everyone["key"].delete()
    same(kept, members())
    same(some, members())
    assert float(one["weights"][2]) == 2


def test_inside_a_program_they_are_operations():
    found = jax.jit(lambda weights: take({"weights": weights}, 1))(members()["weights"])
    np.testing.assert_array_equal(np.asarray(found["weights"], float), [3, 4, 5])


def test_nothing_is_compiled_for_a_new_shape():
    told = []

    def listen(name: str, _: float, **__) -> None:
        told.append(name)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        odd = {"weights": jax.device_put(np.zeros((7, 13), np.float32)), "word": "static"}
        put(odd, np.array([2]), take(odd, np.array([2])))
        joined([odd, copied(odd)])
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert not [name for name in told if "compile" in name]


def test_an_accelerator_moves_all_leaves_in_one_program(monkeypatch):
    """What it cannot do by numpy it does for the whole tree at once: the same members."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    everyone, told = members(), []
    some = take(everyone, np.array([3, 1]))
    np.testing.assert_array_equal(np.asarray(some["weights"], float), [[9, 10, 11], [3, 4, 5]])

    def listen(name: str, _: float, **about) -> None:
        told.append((name.rsplit("/", 1)[1], about.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        apart = [take(everyone, np.array([index])) for index in range(4)]
        same(joined(apart), everyone)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    compiled = [name for event, name in told if event == "backend_compile_duration"]
    assert compiled == ["jit(_taken)", "jit(_joined)"]
