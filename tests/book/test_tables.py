"""Tables are whole; a row of each is what the code as it is computes; everything is reproduced."""

import sys
import warnings
from dataclasses import replace
from functools import cache, partial

import jax
import nbformat
import numpy as np
import pytest
import reproduce as reproduction
from bad_input import BAD_INPUT
from threadpoolctl import threadpool_limits

from mdsgdln import theory
from mdsgdln_book import sweeps, tables
from mdsgdln_book.tables import Table

AVAILABLE = {name: table for name, table in tables.all_tables().items() if table.available()}
# Rows of more than 2.5 CPU seconds whose code other rows run, too, or the chapter itself.
DEAR = {
    *("assumptions_sgd", "attention_after", "context_candidates", "depth_reuse", "digit_routes"),
    *("exact_freezing", "finding_elbow", "letting_go_further", "no_common_block", "people_digits"),
    *("published_gates", "race_or_lazy", "real_data", "real_data_neurons", "relu_curve", "sharing"),
    *("sliding_law", "three_values"),
}
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
    setting = tables.find_table(name).settings[number]
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


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, n) for name, table in tables.all_tables().items() for n in table.repeated],
)
def test_a_result_one_percent_off_is_seen(name, number):
    old = stored(name, number)
    for result, value in old.items():
        off = np.asarray(value, float) * 1.01
        off += max(map(size, old.values())) if zero(old, result) else 0
        (found,) = differing(old, old | {result: off})
        assert found.startswith(f"{result}: was")


def test_a_theory_off_by_one_percent_is_seen(monkeypatch):
    right = theory.expected_initial_strength
    for module in [m for n, m in sys.modules.items() if n.startswith("mdsgdln")]:
        for attribute, value in list(vars(module).items()):
            if value is right:
                monkeypatch.setattr(module, attribute, lambda *args: 1.01 * right(*args))
    fixed = "assumptions_starts", *tables.find_table("assumptions_starts").repeated
    with jax.numpy_rank_promotion("allow"):  # as for readers
        assert "closed: was" in "\n".join(differing(stored(*fixed), row(*fixed)))


def test_the_other_width_of_floats_is_seen():
    fixed = "xor_seeds", *tables.find_table("xor_seeds").repeated
    with jax.enable_x64(False), jax.numpy_rank_promotion("allow"):
        assert list(differing(stored(*fixed), row(*fixed)))


# How tables are filled and recomputed, on a small one --------------------------------------------

RUNS = []


def small(scale: float, seed: int) -> dict:
    RUNS.append((scale, seed))
    return {"value": scale * seed, "curve": [0.0, 1.0, 1e-12]}


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """A table of six rows, filled; all that is written goes to a folder of its own."""
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    monkeypatch.setattr(reproduction, "BUILD", tmp_path / "_build")
    table = Table(small, sweeps.grid(scale=[0.5, 2.0], seed=range(1, 4)))
    monkeypatch.setitem(tables.all_tables(), "toy", table)
    reproduction.fill("toy", n_jobs=1)
    RUNS.clear()
    return tmp_path / "toy.jsonl"


def changed(monkeypatch, **fields):
    monkeypatch.setitem(tables.all_tables(), "toy", replace(tables.find_table("toy"), **fields))


def test_what_lacks_a_row_is_filled_whole_as_other_code_may_have_computed_the_rest(toy):
    lines = toy.read_text().splitlines(keepends=True)
    toy.write_text("".join(lines[:3] + lines[4:]).replace('"value": 0.5', '"value": 7'))
    with pytest.raises(ValueError, match="lacks 1 of 6 runs; run make tables"):
        tables.load("toy")
    reproduction.fill("toy", n_jobs=1)
    assert len(RUNS) == 6
    assert tables.load("toy").value.tolist() == [0.5, 1.0, 1.5, 2.0, 4.0, 6.0]


def test_filling_goes_on_where_it_was_interrupted_unless_the_code_has_changed(toy, monkeypatch):
    def interrupted(scale, seed):
        if len(RUNS) == 4:
            raise KeyboardInterrupt
        return small(scale, seed)

    before = toy.read_bytes()
    for changes in (0, 1):
        RUNS.clear()
        changed(monkeypatch, experiment=interrupted)
        with pytest.raises(KeyboardInterrupt):
            reproduction.fill("toy", n_jobs=1)
        assert toy.read_bytes() == before
        changed(monkeypatch, experiment=small)
        with monkeypatch.context() as patch:
            if changes:
                patch.setattr(reproduction, "code", lambda: "other")
            reproduction.fill("toy", n_jobs=1)
        assert len(RUNS) == 6 + 4 * changes and len(tables.load("toy")) == 6
        before = toy.read_bytes()


def test_a_table_whose_data_are_not_here_is_left_as_it_is_and_says_so(toy, monkeypatch, capsys):
    before = toy.read_text()
    changed(monkeypatch, available=lambda: False)
    reproduction.fill("toy")
    assert toy.read_text() == before and not RUNS
    assert "toy: not filled" in capsys.readouterr().out


def test_a_bad_table_is_named():
    with pytest.raises(BAD_INPUT, match="name"):
        tables.load("no_such_table")
    with pytest.raises(SystemExit):
        reproduction.main(["all", "--tables", "no_such_table"])


@pytest.mark.parametrize(("number", "said"), [("1", ""), ("2", "Cell outputs differ")])
def test_a_chapter_on_other_numbers_differs_from_its_reference(tmp_path, monkeypatch, number, said):
    """As after a change of an experiment."""
    source = "from mdsgdln_book import tables\nprint(tables.path_of('toy').read_text())"
    output = nbformat.v4.new_output("stream", name="stdout", text="1\n")
    cell = nbformat.v4.new_code_cell(source, outputs=[output], execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "toy.ipynb")
    (tmp_path / "toy.jsonl").write_text(number)
    monkeypatch.setattr(reproduction, "REFERENCES", tmp_path)
    _, found = reproduction.compare(tmp_path, "toy")
    assert bool(found) == bool(said) and said in found
