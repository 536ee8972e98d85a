"""Engines: what they are asked, in which words, and what they never say. Sums are in test_sums.py."""

import sys

import numpy as np
import pandas as pd
import pytest
from support.rows import NO_IBIS, SECRET, by_ibis, clean

from helpers.tables import engines, leaves, rows_beyond
from helpers.tables.asked import Asked

FRAME = pd.DataFrame({"who": ["a", "a", "b"], "town": ["x", "y", "x"], "n": [1, 2, 3]})


def test_a_missing_library_is_named(monkeypatch, tmp_path):
    """Whoever reads a file without Ibis is told what to install."""
    monkeypatch.setitem(sys.modules, "ibis", None)
    (tmp_path / "rows.csv").write_text("town\nx\n")
    with pytest.raises(ImportError, match=r"with: pip install 'ibis-framework\[duckdb\]' \(the extra tables\)$"):
        leaves(tmp_path / "rows.csv", ["town"])


def test_what_is_no_table_of_ibis_is_none(monkeypatch):
    """Also before anybody has loaded Ibis, which asking does not do."""
    monkeypatch.delitem(sys.modules, "ibis", raising=False)
    assert not engines.is_ibis(FRAME) and "ibis" not in sys.modules


class TestWithIbis:
    """What needs an engine."""

    @pytest.fixture(autouse=True)
    def ibis(self):
        """Ibis, or the test is left out."""
        return pytest.importorskip("ibis", reason=NO_IBIS)

    @pytest.mark.parametrize("asked", [{}, {"count": "n"}, {"person": "who"}], ids=str)
    def test_an_engine_is_asked_once(self, ibis, monkeypatch, asked):
        """For one table that has a row for each leaf and no more, so that no row of a person comes back."""
        answers = []
        execute = ibis.Table.execute
        monkeypatch.setattr(ibis.Table, "execute", lambda table: answers.append(execute(table)) or answers[-1])
        with by_ibis(pd.concat([FRAME] * 50)) as table:
            leaves(table, ["town"], **asked)
        assert [len(answer) for answer in answers] == [2] and "who" not in answers[0]

    def test_how_many_rows_are_beyond_is_one_number(self, ibis, monkeypatch):
        """No person comes back."""
        answers = []
        execute = ibis.Table.execute
        monkeypatch.setattr(ibis.Table, "execute", lambda table: answers.append(execute(table)) or answers[-1])
        with by_ibis(pd.concat([FRAME] * 50)) as table:
            assert rows_beyond(table, "who", 10) == 130
        assert [answer.shape for answer in answers] == [(1, 2)]

    def test_an_engine_that_is_gone_is_refused(self):
        """A connection that was lost is one sentence."""
        with by_ibis(FRAME) as table:
            pass
        with pytest.raises(ValueError, match=r"^table must be a table that its engine can add up, but reading") as refused:
            leaves(table, ["town"])
        clean(refused.value)

    def test_a_table_that_fails_on_a_cell_does_not_show_it(self):
        """An expression of the holder's own may cast a cell that cannot be cast."""
        with by_ibis(FRAME.assign(n=["1", SECRET, "2"])) as table:
            with pytest.raises(ValueError, match="reading it ended in ConversionException") as refused:
                leaves(table.mutate(n=table.n.cast("int64")), ["town"], count="n")
        clean(refused.value)

    @pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "float32", "float64"])
    def test_counts_may_be_of_any_number(self, kind):
        """Small or large."""
        with by_ibis(FRAME.assign(n=np.array([1, 2, 3], dtype=kind))) as table:
            assert leaves(table, ["town"], count="n").n.tolist() == [4, 2]

    def test_a_decimal_is_a_number(self):
        """As databases have them."""
        with by_ibis(FRAME) as table:
            assert leaves(table.mutate(n=table.n.cast("decimal(20, 2)")), ["town"], count="n").n.tolist() == [4, 2]

    @pytest.mark.parametrize("sql", ["postgres", "bigquery", "snowflake", "pyspark", "databricks", "trino", "clickhouse"])
    def test_other_engines_have_words_for_it(self, ibis, sql):
        """The question can be put to them; whether their answer is right, `make test-spark` asks Spark itself."""
        table = ibis.table({"who": "string", "town": "string", "n": "string"}, name="held")
        for asked in ({"count": "n"}, {"person": "who", "most": 2}):
            question = engines.question(engines.of_ibis("table", table), Asked(["town"], **asked))
            text = str(ibis.to_sql(question, dialect=sql)).upper()
            assert "GROUP BY" in text and ("MD5(" in text) == ("person" in asked)
