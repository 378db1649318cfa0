"""Result tables are whole, made by the code as it is, and read only after a check."""

import json

import pytest
from bad_input import BAD_INPUT

from mdsgdln import records
from mdsgdln_book import tables


@pytest.mark.parametrize("name", tables.NAMES)
def test_table_is_not_older_than_its_code(name):
    assert tables.is_fresh(name), f"{name} is missing or old: run make tables TABLE={name}"


@pytest.fixture
def small_table(monkeypatch, tmp_path):
    """A copy of a results file that can be tampered with."""
    module, path = tables.find("xor_seeds")
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(tables, "find", lambda name: (module, copy))
    return copy


def test_loading_computes_an_entry_anew(small_table, capsys):
    table = tables.load("xor_seeds", seed=3)
    assert len(table) == 10_000 and (table.failed == "").all()
    assert "equal" in capsys.readouterr().out


def test_a_wrong_table_is_not_read(small_table):
    header, *rows = small_table.read_bytes().splitlines(keepends=True)

    def shifted(row):
        record = records.decode(row)
        record["results"]["half_loss_time"] *= 1.001
        return records.encode(record)

    small_table.write_bytes(header + b"".join(map(shifted, rows)))
    with pytest.raises(ValueError, match="half_loss_time"):
        tables.load("xor_seeds")


def test_an_old_or_unfinished_table_is_not_read(small_table):
    header, *rows = small_table.read_bytes().splitlines(keepends=True)
    old = records.decode(header) | {"code": "0" * 16}
    for content in (records.encode(old) + b"".join(rows), header + b"".join(rows[:-1]), b""):
        small_table.write_bytes(content)
        with pytest.raises(ValueError, match="make tables"):
            tables.load("xor_seeds")


def test_a_bad_name_is_named():
    with pytest.raises(BAD_INPUT, match="name"):
        tables.find("no_such_table")


def test_every_file_says_what_made_it():
    for name in tables.NAMES:
        header, _ = records.read(tables.find(name)[1])
        assert {"code", "libraries", "platform", "method"} <= set(header)
        assert json.dumps(header)
