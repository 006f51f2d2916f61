"""The faults of an audit that the tests of its day let live, in the words that the code has now.

File, text, and what the audit put in its place. One more stood in a training loop that is gone.
"""

AUDIT = (
    ("training/optimizers.py", "static=True, default=0.999)", "static=True, default=0.99)"),
    ("training/optimizers.py", "converter=_scalar, default=0.999)", "converter=_scalar, default=0.99)"),
    ("training/optimizers.py", "static=True, default=0.9)", "static=True, default=0.8)"),
    ("training/optimizers.py", "converter=_scalar, default=0.9)", "converter=_scalar, default=0.8)"),
    ("training/member.py", "jax.random.fold_in(member.test, 1)", "member.test"),
    ("supervision/policy.py", "jnp.minimum(ratio * batch.advantage", "jnp.maximum(ratio * batch.advantage"),
    ("supervision/policy.py", "keepdims=True) + 1e-6", "keepdims=True) + 1.0"),
    ("supervision/filtered.py", "values[layout.ends[level - 2] :]", "values[layout.ends[level - 2] + 1 :]"),
    ("supervision/filtered.py", "scores[ends[level - 1] : ends[level]]", "scores[ends[level - 1] + 1 : ends[level]]"),
    ("statistics/means.py", "ddof=1", "ddof=0"),
    ("statistics/slopes.py", "len(x) - 2", "len(x) - 1"),
    ("theory/gated_laws.py", "* 4 * slope", "* 40 * slope"),
    ("theory/gated_laws.py", "return 2 * slope **", "return 4 * slope **"),
    ("theory/sparse_attention.py", "bits + 1 else 32", "bits + 1 else 30"),
    ("theory/sparse_attention.py", "last_rate / (32 * neurons)", "last_rate / (30 * neurons)"),
    ("theory/sparse_attention.py", "first_rates / (32 * neurons", "first_rates / (30 * neurons"),
)
