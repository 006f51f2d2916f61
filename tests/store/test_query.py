"""A query reads the tables of the store and nothing else."""

import pytest

from sorites.errors import SpecError
from sorites.store import Store, query
from sorites.store.sql import DEPTH, TOKENS, checked

LEAK = "leaked-by-a-query"


@pytest.fixture
def secret(tmp_path):
    """A file outside the store."""
    path = tmp_path / "secret.csv"
    path.write_text(f"text\n{LEAK}\n")
    return path


@pytest.mark.parametrize(
    "sql",
    [
        """SELECT * FROM "read_csv"('FILE')""",
        "SELECT * FROM `read_csv`('FILE')",
        "SELECT * FROM read_csv/* /* */ */('FILE')",
        "SELECT * FROM read_csv($$FILE$$)",
        "SELECT * FROM read_csv('FILE')",
        "SELECT * FROM READ_CSV ('FILE')",
        "SELECT * FROM \"READ_csv\" ('FILE')",
        "SELECT * FROM read_csv--\n('FILE')",
        "SELECT * FROM read_csv/**/('FILE')",
        "SELECT * FROM read_csv\u00a0('FILE')",
        "SELECT * FROM\tread_csv\n(\n'FILE')",
        "SELECT * FROM runs, read_csv('FILE')",
        "SELECT * FROM runs r, \"read_csv\"('FILE') AS x",
        "SELECT * FROM runs JOIN read_csv('FILE') x ON true",
        "SELECT * FROM runs CROSS JOIN (read_csv('FILE'))",
        "SELECT * FROM (((read_csv('FILE'))))",
        "SELECT * FROM (SELECT * FROM read_csv('FILE')) AS x",
        "SELECT (SELECT text FROM read_csv('FILE'))",
        "SELECT id FROM runs WHERE EXISTS (SELECT 1 FROM read_csv('FILE'))",
        "SELECT id FROM runs WHERE id IN (SELECT text FROM read_csv('FILE'))",
        "WITH x AS (SELECT * FROM read_csv('FILE')) SELECT * FROM x",
        "WITH x AS (FROM read_csv('FILE')) SELECT * FROM x",
        "WITH read_csv AS (SELECT 1) SELECT * FROM read_csv('FILE')",
        "SELECT id FROM runs UNION ALL SELECT text FROM read_csv('FILE')",
        "SELECT id FROM runs UNION ALL FROM read_csv('FILE')",
        "SELECT 1 IS DISTINCT FROM read_csv('FILE')",
        "SELECT extract(year FROM read_csv('FILE'))",
        "SELECT extract(SELECT 1 FROM read_csv('FILE'))",
        "SELECT * FROM runs.read_csv('FILE')",
        "SELECT * FROM LATERAL read_csv('FILE')",
        "SELECT * FROM TABLE(read_csv('FILE'))",
        "SELECT * FROM scan_csv('FILE')",
        "SELECT * FROM read_parquet('FILE')",
        "SELECT * FROM read_ndjson(['FILE'])",
        "SELECT * FROM unnest([1, 2]) AS t(a)",
        "SELECT * FROM 'FILE'",
        'SELECT * FROM "FILE"',
        'SELECT * FROM "x.parquet"',
        "SELECT * FROM runs, x.parquet",
        "SELECT * FROM runs AS r(read_csv('FILE'))",
        "FROM read_csv('FILE')",
        "FROM runs SELECT *",
        "SELECT read_csv('FILE')",
        "SELECT getenv('HOME')",
        "SELECT \"abs\"('FILE')",
        "SELECT 1; SELECT * FROM read_csv('FILE')",
        "SELECT 1;;",
        "; SELECT 1",
        "CREATE TABLE x AS SELECT * FROM read_csv('FILE')",
        "SELECT * INTO x FROM runs",
        "WITH x AS (DELETE FROM runs) SELECT 1",
        "WITH x AS (SELECT 1) DELETE FROM runs",
        "DROP TABLE runs",
        "TRUNCATE TABLE runs",
        "COPY runs TO 'FILE'",
        "EXPLAIN SELECT * FROM read_csv('FILE')",
        "SHOW TABLES; SELECT 1",
        "SHOW COLUMNS FROM runs",
        "VALUES (1)",
        "SELECT * FROM runs /* never closed",
        "SELECT 'never closed",
        r"SELECT E'\' FROM read_csv(''FILE'') --'",
        "SELECT U&'x' FROM runs",
        "SELECT x'41'",
        "SELECT q'[x]' FROM runs",
        "SELECT 'text' FROM runs WHERE id = 'a\\' OR 'FROM read_csv('FILE')",
        "SELECT * FROM (runs",
        "SELECT * FROM runs)",
        "SELECT * FROM",
        "",
        "()",
        "SELECT '\ud800'",
        "SELECT \0",
    ],
)
def test_a_query_reads_nothing_else(tmp_path, secret, sql):
    with pytest.raises(SpecError) as refusal:
        query(Store(tmp_path / "store"), sql.replace("FILE", str(secret)))
    assert LEAK not in str(refusal.value)
    if "FILE" in sql:  # refused before polars parses it
        with pytest.raises(SpecError):
            checked(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "+".join(["1"] * 30_000),
        "||".join(["'a'"] * TOKENS),
        "(" * (DEPTH + 1) + "1" + ")" * (DEPTH + 1),
        "- " * TOKENS + "1",
        "'" + "a" * 30_000 + "'",
    ],
)
def test_long_queries_are_refused(tmp_path, sql):
    with pytest.raises(SpecError, match=r"at most|nested"):
        query(Store(tmp_path), f"SELECT {sql}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "||".join(["'a'"] * (TOKENS // 2 - 1)),
        " UNION ALL ".join(["SELECT 1"] * (TOKENS // 4)),
        "SELECT 1" + " IS NULL" * (TOKENS // 2 - 2),
        "SELECT " + "(" * (DEPTH - 1) + "1" + ")" * (DEPTH - 1),
    ],
)
def test_the_longest_queries_that_are_allowed_run(tmp_path, sql):
    """A parser that overflows its stack would end the process."""
    assert query(Store(tmp_path), sql).height >= 1


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT r.task, m.seed FROM members AS m JOIN runs r ON m.run = r.id;", 3),
        ("SELECT m.seed FROM runs, members m WHERE runs.id = m.run", 3),
        ("SELECT r.id FROM (runs r JOIN members m ON r.id = m.run)", 3),
        ("WITH ends AS (SELECT member, MAX(step) AS last FROM history GROUP BY member) SELECT * FROM ends", 3),
        ("WITH read_csv AS (SELECT 1 AS a), b AS (SELECT a FROM read_csv) SELECT * FROM b, read_csv", 1),
        ("SELECT seed, ROW_NUMBER() OVER (PARTITION BY run ORDER BY seed) AS n FROM members ORDER BY seed DESC", 3),
        ("SELECT CASE WHEN seed > 3 THEN 'high' ELSE 'low' END AS side FROM members", 3),
        ("SELECT seed FROM members WHERE seed IN (0, 3) AND NOT (seed = 3)", 1),
        ("SELECT seed FROM members WHERE seed IS DISTINCT FROM 3", 2),
        ("SELECT SUBSTRING(id FROM 1 FOR 2), EXTRACT(year FROM DATE '2020-01-01') FROM runs", 1),
        ("SELECT id FROM runs WHERE task <> 'FROM read_csv(''x.csv''); DROP TABLE runs --'", 1),
        ('SELECT \'read_csv(\' AS a, "id" AS "read_csv(" FROM RUNS', 1),
        ("SELECT id -- FROM read_csv('x.csv')\nFROM runs /* DROP */", 1),
        ('SELECT "own.loss", step / 2 AS half FROM history', 18),
        ("SELECT COUNT(*) AS n, AVG(h.step) FROM history AS h GROUP BY h.member HAVING COUNT(*) > 1", 3),
        ("SELECT seed FROM members UNION SELECT seed FROM history", 3),
        ("SELECT * EXCLUDE (secret) FROM members WHERE seed = (SELECT MAX(seed) FROM members)", 1),
        ("SELECT CAST(seed AS DECIMAL(10, 2)), seed::float8, secret[1] FROM members LIMIT 2", 2),
        ("SELECT a FROM (VALUES (1, 2), (3, 4)) AS t(a, b)", 2),
        ("show tables", 3),
    ],
)
def test_queries_that_are_allowed(store, sql, rows):
    assert query(store, sql).height == rows


def test_only_tables_that_are_named_are_read():
    assert checked("SELECT 'history' FROM members")[1] == {"members"}
    assert checked('WITH a AS (SELECT 1 FROM "History") SELECT * FROM a, runs')[1] == {"history", "runs"}


def test_a_damaged_table_is_refused(store):
    path = store.folders()[0].path / "history.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(SpecError, match="not what was written"):
        query(Store(store.root), "SELECT * FROM history")
    assert query(Store(store.root), "SELECT * FROM members").height == 3
