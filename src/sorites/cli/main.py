"""`sorites`: parse, dispatch, and turn refusals into one sentence and exit status 2."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from ..errors import SpecError, require

COMMANDS = {
    "list": "claims, figures, papers, tasks, models or cells",
    "show": "one claim or figure: statement, paper, code, parameters, last verdict",
    "verify": "check claims; any parameter of a claim is a flag",
    "figure": "draw a figure: PNG, PDF and the data as Parquet",
    "run": "train an ensemble from a file or from flags",
    "sweep": "many runs by many seeds, on this machine or on a Ray cluster, and one table",
    "reproduce": "every claim and figure, then one page",
    "runs": "what the store holds: list, show, diff, query, check, compact, export, import",
    "data": "chains of a task as JSON lines, Parquet, or a folder that datasets.load_dataset opens",
    "score": "what an outside model wrote: right answers, first wrong thoughts, process reward",
    "export": "a trained GPT as a Hugging Face folder",
    "entropy": "normalised attention entropy of pretrained language models, head by head",
    "play": "the playground in the browser, served on loopback",
    "cite": "BibTeX of a paper, a claim's paper, or sorites itself",
}
COMPUTE = ("verify", "figure", "run", "sweep", "reproduce", "data", "score")


class Parser(argparse.ArgumentParser):
    """Errors are one sentence and status 2."""

    def error(self, message: str):
        raise SpecError(f"{message}; see '{self.prog} --help'")


def whole(text: str) -> int:
    """A number that a shape can have."""
    value = int(text)
    if abs(value) >= 2**63:
        raise argparse.ArgumentTypeError(f"a whole number is below 2^63: {text[:20]}...; use a smaller one")
    return value


def build() -> argparse.ArgumentParser:
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)  # before or after the command
    shared.add_argument(
        "--store", metavar="DIR", help="where results are kept (else $SORITES_STORE, else ./sorites-store)"
    )
    shared.add_argument("--json", metavar="PATH", help="write the result as JSON; - is standard output")
    shared.add_argument("--quiet", action="store_true", help="no progress, no tables")
    parser = Parser(
        parents=[shared],
        prog="sorites",
        description="A laboratory for how transformers come to reason in chains.",
        epilog="Start with: sorites figure log-icot/2a, sorites verify LI-20, sorites list claims.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    scaled = Parser(add_help=False)
    sizes = "tiny: seconds; quick: 2 CPU cores (default); paper: the paper's own settings"
    scaled.add_argument("--scale", choices=("tiny", "quick", "paper"), default="quick", help=sizes)
    scaled.add_argument("--seeds", metavar="N", help="members of every ensemble")
    made = {
        name: commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".",
                                  parents=[shared, scaled] if name in ("verify", "figure", "reproduce") else [shared])
        for name, text in COMMANDS.items()
    }  # fmt: skip
    made["list"].add_argument("what", nargs="?", choices=("claims", "figures", "papers", "tasks", "models", "cells"))
    for flag, text in (("paper", "claims or figures of one paper, by its slug"), ("kind", "claims of one kind"),
                       ("task", "cells of one task"), ("model", "cells of one model"),
                       ("supervision", "cells of one supervision"), ("find", "what contains this text")):  # fmt: skip
        made["list"].add_argument(f"--{flag}", metavar="WORD", help=text)
    made["list"].epilog = (
        "Alone it says what there is. With --store, claims have their last verdict beside them. "
        "For example: sorites list claims --paper wen --kind trend."
    )
    made["show"].add_argument("id", help="LI-14, or log-icot/2b")
    made["verify"].add_argument("ids", nargs="*", metavar="ID")
    made["verify"].add_argument("--paper", metavar="SLUG", help="all claims of one paper")
    made["verify"].add_argument("--anywhere", type=whole, metavar="N", help="at N sizes drawn from each claim's domain")
    made["verify"].add_argument("--seed", type=whole, metavar="S", help="of those sizes, default 0")
    made["verify"].add_argument("--jobs", type=whole, metavar="N", help="processes, default one per core for many")
    made["verify"].epilog = "Any parameter of the claims is a flag too: sorites verify LI-14 --bits 24 --sparsity 8."
    made["figure"].add_argument("id", metavar="SLUG/FIG")
    made["figure"].add_argument("--out", metavar="DIR", default="figures")
    made["run"].add_argument("file", nargs="?", metavar="FILE.py[:NAME]", help="a Run, or a function that returns one")
    for flag, text in (("task", "see: sorites list tasks"), ("model", "see: sorites list models"),
                       ("supervision", "direct, teacher-forcing, icot, log-icot, own-soft, own-greedy, process-reward, "
                        "outcome-reward, self-training")):  # fmt: skip
        made["run"].add_argument(f"--{flag}", help=text)
    for name in ("run", "data", "score"):
        for flag, default in (("bits", 8), ("sparsity", 4), ("length", 3)):
            made[name].add_argument(f"--{flag}", type=whole, default=default, help=f"of the task, default {default}")
        made[name].add_argument("--decomposition", default="tree", help="tree, serial or flat")
        made[name].add_argument("--action", default="C3", help="the group of lego and composition, default C3")
        made[name].add_argument("--variables", type=whole, default=0, help="of lego, 2 more than twice the length")
    for flag in ("layers", "width"):
        made["run"].add_argument(f"--{flag}", type=whole, help="of a model that has them, default: the model's own")
    for flag in ("batch", "steps", "every"):
        made["run"].add_argument(f"--{flag}", type=whole, help="default: the model's own")
    made["run"].add_argument("--rate", type=float, help="default: the model's own")
    made["run"].add_argument("--goal", metavar="METRIC=VALUE", help="what counts as solved, as padded.answer=1")
    made["run"].add_argument("--seeds", metavar="N", default="8", help="members, default 8")
    sweep = made["sweep"]
    sweep.add_argument("file", metavar="FILE.py[:NAME]", help="a Grid, or a dict or list of Runs; default name: sweep")
    sweep.add_argument("--engine", choices=("local", "ray"), default="local", help="this machine, or a Ray cluster")
    sweep.add_argument("--address", metavar="A", help="of the Ray cluster; default RAY_ADDRESS, else one started here")
    sweep.add_argument("--jobs", type=whole, metavar="N", help="processes on this machine, default one per device")
    sweep.add_argument("--seeds", metavar="N", help="members of every run, default the file's, else 8")
    sweep.add_argument("--only", metavar="EXPR", action="append", default=[],
                       help="points that fit, as 'bits=16, rate>=0.1, model=gpt|gated'; may be repeated")  # fmt: skip
    sweep.add_argument("--limit", type=whole, metavar="N", help="the first N points")
    sweep.add_argument("--dry-run", action="store_true", help="print the plan, train nothing")
    sweep.add_argument("--resume", action="store_true", help="refused where the store has none of the sweep")
    sweep.add_argument("--weights", action="store_true", help="store the weights too, not the histories alone")
    sweep.add_argument("--out", metavar="DIR", help="write members.parquet and evaluations.parquet there")
    made["reproduce"].add_argument("--paper", metavar="SLUG", help="one paper only")
    made["reproduce"].add_argument("--out", metavar="DIR", default="reproduction")
    made["reproduce"].add_argument("--jobs", type=whole, metavar="N", help="processes, default one per core")
    made["runs"].add_argument(
        "action", choices=("list", "show", "diff", "query", "check", "compact", "export", "import")
    )
    made["runs"].add_argument("arguments", nargs="*", metavar="ARG", help="ids, an SQL sentence, or paths")
    for name in ("data", "score"):
        made[name].add_argument("task", help="see: sorites list tasks; or FILE.py[:NAME] with a task of your own")
        made[name].add_argument("--seed", type=whole, default=0, help="the secret is that of this member, default 0")
    made["data"].add_argument("--count", type=whole, required=True, metavar="N", help="rows")
    made["data"].add_argument("--format", choices=("jsonl", "parquet"), default="parquet", help="default parquet")
    made["data"].add_argument("--out", required=True, metavar="PATH", help="a .jsonl or .parquet file, else a folder")
    made["data"].add_argument("--test", type=whole, default=0, metavar="N", help="rows of a second split, in a folder")
    made["data"].add_argument("--distinct", action="store_true", help="no row twice, none of the test split's")
    made["score"].add_argument("file", metavar="FILE", help="rows with prompt and thoughts, completion or answer")
    made["export"].add_argument("run", metavar="RUN", help="the beginning of an id, see: sorites runs list")
    made["export"].add_argument("--to", choices=("hf",), default="hf", help="hf: a Hugging Face GPT-2 folder")
    made["export"].add_argument("--out", required=True, metavar="DIR", help="a new folder")
    made["export"].add_argument("--member", type=whole, metavar="SEED", help="which of several members")
    made["export"].add_argument("--pad", action="store_true", help="hidden thoughts as one more token, '_'")
    made["entropy"].add_argument("models", nargs="+", metavar="MODEL_DIR", help="folders with weights and tokenizer")
    made["entropy"].add_argument("--data", required=True, metavar="FILE", help="rows with question and answer")
    made["entropy"].add_argument("--text", default="cot,none", help="of cot, none, cut, shuffled, random")
    made["entropy"].add_argument("--tokens", default="all", help="all (default) or answer")
    made["entropy"].add_argument("--reduce", default="min", help="min (default) or mean over tokens")
    made["entropy"].add_argument("--limit", type=whole, metavar="N", help="problems, default all")
    made["play"].add_argument("--port", type=whole, default=0, metavar="N", help="default: a free one")
    made["play"].add_argument("--no-browser", dest="browser", action="store_false", help="serve, but open nothing")
    made["cite"].add_argument("ids", nargs="*", metavar="ID", help="papers, claims or figures; nothing cites sorites")
    return parser


def entry() -> None:
    """What the shell starts."""
    from . import stopping

    stopping.listen()
    status = main()
    if status > 128:
        stopping.leave(status)
    raise SystemExit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        nul = next((word for word in arguments if "\0" in word), None)
        require(nul is None, f"{nul!r} holds a NUL, which no path and no name can; leave it out")
        parser = build()
        options, extra = parser.parse_known_args(arguments, argparse.Namespace(store=None, json=None, quiet=False))
        if options.command is None:
            parser.print_help()
            return 0
        if options.command == "runs" and not any(word.startswith("-") for word in extra):
            options.arguments, extra = [*options.arguments, *extra], []  # ids that stand behind an option
        if extra and options.command not in ("verify", "figure"):
            raise SpecError(
                f"sorites {options.command} does not know {extra[0]!r}; see 'sorites {options.command} --help'"
            )
        options.overrides = overrides(extra)
        if getattr(options, "seeds", None) is not None:
            options.overrides["seeds"] = options.seeds
        common = importlib.import_module(".common", __package__)
        common.check_json(options)
        if options.command in COMPUTE:
            from ..runtime import configure

            configure()
        command = importlib.import_module(f".{options.command}_command", __package__)
        return command.execute(options)
    except SpecError as refusal:
        print(f"sorites: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print("sorites: stopped; what was finished is in the store", file=sys.stderr)
        return getattr(stop, "status", 130)
    except BrokenPipeError:
        return 0
    except OSError as error:  # a name too long, a loop of links: whatever path was given
        print(f"sorites: a path must be usable: {error.filename} ({error.strerror}); give another", file=sys.stderr)
        return 2


def overrides(extra: Sequence[str]) -> dict[str, str]:
    """--name value pairs that no option claimed."""
    found, rest = {}, list(extra)
    while rest:
        flag = rest.pop(0)
        name, equals, value = flag.removeprefix("--").partition("=")
        if not flag.startswith("--") or not name:
            raise SpecError(f"a parameter is given as --name value: {flag!r}; write for example --bits 24")
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise SpecError(f"a parameter needs a value: {flag!r}; write for example {flag} 24")
            value = rest.pop(0)
        found[name.replace("-", "_")] = value
    return found


if __name__ == "__main__":
    entry()
