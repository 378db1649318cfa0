"""Tables are whole, and a row of each is what the code as it is computes."""

import warnings
from functools import cache, partial

import jax
import numpy as np
import pytest
import reproduce as reproduction
from threadpoolctl import threadpool_limits

from mdsgdln_book import sweeps, tables

AVAILABLE = {name: table for name, table in tables.all_tables().items() if table.available()}
# Rows of more than 2.5 CPU seconds whose code other rows run, too, or the chapter itself.
DEAR = """
assumptions_sgd attention_after context_candidates depth_reuse digit_routes exact_freezing
finding_elbow no_common_block people_digits people_silence predicted_at_random predicted_curves
prediction published_gates race_or_lazy real_data real_data_neurons scaled_pathways sharing
three_values
""".split()
REPEATED = [
    pytest.param(name, number, marks=[pytest.mark.nightly] if name in DEAR else [])
    for name, table in AVAILABLE.items()
    for number in table.repeated
]
NEARLY = 0.005  # of the largest entry of a result: so far other processors may differ


rows = cache(tables.rows)  # each file is read once


def stored(name, number):
    return rows(name)[number]["results"]


def row(name, number):
    """The results of a row as they come out now."""
    setting = tables.all_tables()[name].settings[number]
    with threadpool_limits(1), warnings.catch_warnings():  # of BLAS; warnings are a table's own
        warnings.simplefilter("ignore")
        run = partial(reproduction.run, name)
        (found,) = sweeps.sweep(run, [setting], progress=False).to_dict("records")
    return {result: found[result] for result in found.keys() - setting.keys() - {"failed"}}


def size(value):
    return np.nanmax(np.abs(np.asarray(value, float)), initial=0)


def zero(results, name):
    """Whether a result is zero but for rounding."""
    return size(results[name]) <= 1e-9 * max(map(size, results.values()))


def differing(old, now):
    """Which results of a row differ, in words; those that are zero are measured by the largest."""
    assert old.keys() == now.keys()
    for name in sorted(old):
        scale = max(map(size, old.values())) if zero(old, name) else size(old[name])
        was, found = (np.asarray(results[name], float) for results in (old, now))
        near = {"rtol": 0, "atol": NEARLY * scale, "equal_nan": True}
        if was.shape != found.shape or not np.allclose(found, was, **near):
            yield f"{name}: was {old[name]}, now is {now[name]}"


@pytest.mark.parametrize("name", tables.all_tables())
def test_a_table_is_whole(name):
    assert all(row["failed"] == "" for row in rows(name))


@pytest.mark.parametrize(("name", "number"), REPEATED)
def test_a_fixed_row_is_reproduced(name, number):
    with jax.numpy_rank_promotion("allow"):  # as for readers
        old, now = stored(name, number), row(name, number)
    assert not (found := list(differing(old, now))), "\n".join(found)
