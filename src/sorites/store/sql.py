"""The check of a query before polars parses it.

The SQL of polars can read files and network addresses, through table functions such as `read_csv`. So a query is split
into tokens here, and polars gets these tokens, joined by single spaces, instead of the text. Statements, tables and
functions that are not listed below are refused.
"""

import dataclasses
import re

from ..errors import SpecError, require

TABLES = ("runs", "members", "history")
CHARACTERS, TOKENS, DEPTH = 20_000, 500, 20  # the parser of polars is recursive: 1,000 terms can overflow its stack
SHOWN = 80  # characters of a query in an error


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS = _words(
    """
    abs ceil ceiling div floor mod pi pow power round sign sqrt cbrt exp ln log log2 log10 log1p greatest least
    coalesce ifnull nullif if cast try_cast count sum avg mean min max median mode std stddev variance var first last
    quantile_cont quantile_disc corr covar row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value
    last_value nth_value length char_length lower upper initcap replace substr substring strpos position concat
    concat_ws left right trim ltrim rtrim starts_with ends_with regexp_like split_part reverse string_agg array_agg
    array_length array_sum array_mean array_min array_max array_get array_contains array_to_string unnest date date_part
    extract strftime strptime columns
    """
)
BEFORE_PARENTHESIS = _words(  # keywords
    """
    select distinct from join on using where and or not in exists any all some between like ilike by having limit offset
    qualify union intersect except over filter case when then else as values exclude replace within group rollup sets
    """
)
AFTER_TABLES = _words(  # keywords that end the list of tables
    "select where group having order limit offset fetch qualify window union intersect except"
)
STATEMENTS = _words(  # keywords of other statements and of tables that are not named
    """
    insert update delete drop create alter truncate copy explain describe merge into lateral table attach execute call
    """
)

TOKEN = re.compile(
    r"""
    (?P<space> \s+ | --[^\n]* | /\*(?:(?!/\*|\*/).)*\*/ )
  | (?P<number> (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.'"]) )
  | (?P<string> '(?:[^']|'')*'(?!') )
  | (?P<name> "(?:[^"]|"")+"(?!") )
  | (?P<word> [A-Za-z_][A-Za-z0-9_]*(?![\w'"]) )
  | (?P<sign> <=|>=|<>|!=|\|\||::|[-+*%<>=(),.;\[\]] | /(?!\*) )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclasses.dataclass(frozen=True)
class Token:
    """A piece of SQL; `word` is an unquoted word in lower case, else empty."""

    text: str
    word: str = ""

    @property
    def table(self) -> str:
        """The table that this token would name, in lower case; empty for signs, numbers and strings."""
        return self.word or (self.text[1:-1].lower() if self.text.startswith('"') else "")


@dataclasses.dataclass
class _Level:
    """What has been read inside a pair of parentheses."""

    call: bool = False  # they hold the arguments of a function
    query: bool = False  # a SELECT was read
    listing: bool = False  # a table follows every comma
    expects: bool = False  # a table follows


def checked(sql: str) -> tuple[str, set[str]]:
    """Check that a query only reads the tables of a store.

    Args:
        sql: one SELECT, with or without WITH, or SHOW TABLES.

    Returns:
        The query as polars may run it, and those of `runs`, `members` and `history` that it names.

    Raises:
        SpecError: where the query is something else, names another table, calls a function that is not in `FUNCTIONS`,
            or is longer or nested deeper than allowed.
    """
    require(
        len(sql) <= CHARACTERS, f"the query has {len(sql):,} characters: at most {CHARACTERS:,} are allowed; shorten it"
    )
    tokens = _tokens(sql)
    if tokens and tokens[-1].text == ";":
        tokens.pop()
    require(len(tokens) <= TOKENS, f"the query has {len(tokens):,} words and signs: at most {TOKENS} are allowed; "
            "shorten it")  # fmt: skip
    if [token.word for token in tokens] == ["show", "tables"]:
        return "SHOW TABLES", set()
    start = next((token for token in tokens if token.text != "("), Token("nothing"))
    _require(start.word in ("select", "with"), sql, f"begins with {start.text}", "begin with SELECT or WITH")
    named = _named_tables(tokens, sql)
    return " ".join(token.text for token in tokens), named & set(TABLES)


def _require(condition: bool, sql: str, what: str, remedy: str) -> None:
    if not condition:
        short = " ".join(sql.split())
        short = short if len(short) <= SHOWN else short[:SHOWN] + "..."
        allowed = "allowed is one SELECT from runs, members, history and tables that WITH names, and nothing else"
        raise SpecError(f"the query {short!r} {what}: {allowed}; {remedy}")


def _tokens(sql: str) -> list[Token]:
    """The tokens without spaces and comments."""
    found, place = [], 0
    while place < len(sql):
        match = TOKEN.match(sql, place)
        if match is None:
            rest = sql[place : place + 10]
            _require(False, sql, f"has {rest!r}, which is not read here", "use plain SQL: 'text', \"column\", 1.5")
            break
        place, kind, text = match.end(), match.lastgroup, match.group()
        if kind != "space":
            found.append(Token(text, text.lower() if kind == "word" else ""))
    for before, token, number in zip(found, found[1:], range(1, len(found)), strict=False):
        if before.text == "." and token.word:
            found[number] = Token(token.text)  # a column after its table is no keyword
    return found


def _named_tables(tokens: list[Token], sql: str) -> set[str]:
    """The tables that the query reads; a refusal where it reads or calls anything else."""
    end = Token("")
    before, after = [end, end, *tokens], [*tokens[1:], end, end]
    known = {*TABLES} | {
        token.table
        for token, left, right, third in zip(tokens, before[1:], after, after[1:], strict=False)
        if token.table and left.text.lower() in ("with", "recursive", ",") and right.word == "as" and third.text == "("
    }
    named: set[str] = set()
    levels = [_Level()]
    for second, first, token, right in zip(before, before[1:], tokens, after, strict=False):
        level, word = levels[-1], token.word
        _require(word not in STATEMENTS, sql, f"has {token.text}", f'leave it out, or write a column as "{word}"')
        _require(token.text != ";", sql, "has a second statement", "run one statement at a time")
        if level.expects and token.text != "(" and not (first.text == "(" and word in ("select", "with", "values")):
            known_alone = token.table in known and right.text not in ("(", ".")
            _require(known_alone, sql, f"reads from {token.text}", "use one of these")
            named.add(token.table)
            level.expects = False
        elif token.text == "(":
            call = first.word in FUNCTIONS and second.word != "as"
            plain = first.word in BEFORE_PARENTHESIS or second.word == "as" or _is_sign(first)
            _require(call or plain, sql, f"calls {first.text}", f"use one of {', '.join(sorted(FUNCTIONS))}")
            _require(len(levels) < DEPTH, sql, f"is nested deeper than {DEPTH} parentheses", "use fewer")
            levels.append(_Level(call=call, expects=level.expects))
            level.expects = False
            continue
        elif token.text == ")":
            _require(len(levels) > 1, sql, "closes a parenthesis that is not open", "leave it out")
            levels.pop()
            continue
        level.query |= word == "select"
        level.listing &= word not in AFTER_TABLES
        compares = first.word == "distinct" and second.word in ("is", "not")  # IS DISTINCT FROM
        if word == "from" and not compares and (level.query or not level.call):  # not EXTRACT(year FROM date)
            level.listing = level.expects = True
        else:
            level.expects = word == "join" or (token.text == "," and level.listing)
    _require(not levels[-1].expects and len(levels) == 1, sql, "ends too early", "finish it")
    return named


def _is_sign(token: Token) -> bool:
    """Whether a parenthesis after this token groups an expression: after an operator, a comma, or nothing."""
    return not token.word and not re.search(r"[\w'\".)\]]", token.text)
