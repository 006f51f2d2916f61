"""What `sorites verify` and `sorites reproduce` take for the claims and figures that an earlier commit had.

    SORITES_CACHE=NEW python bench/same_work.py verify|reproduce --store NEW --out FILE.json [--ids L1,wen/2a]

Claims and figures were added while things became faster, so whole runs of two commits are not the same work. The 134
claims and 59 figures of commit e293822 are all but those below; here they alone are judged and drawn, by the workers
and in the order of the command line, and timed: a process for every core, at quick scale.
"""

import argparse
import json
import resource
import time
from pathlib import Path
from types import SimpleNamespace

from about import about

from sorites.cli import reproducing, verify_command
from sorites.cli.common import all_claims, all_figures
from sorites.runtime import configure

SINCE = {  # e293822
    *(f"LI-{n}" for n in range(25, 31)), *(f"KS-{n}" for n in range(29, 34)), *(f"RS-{n}" for n in range(35, 40)),
    "W27", "L23", "L24", "L25", "A-1", "A-2", "A-3",
    "lego/epochs", "wen/6", "wen/7", "wen/law", "wen/plateau", "atlas/gpt-icot", "atlas/lego-rl", "atlas/cells",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=("verify", "reproduce"))
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ids", default="", help="only these of them, with commas between")
    options = parser.parse_args()
    configure()
    wanted = set(options.ids.split(",")) if options.ids else {*all_claims(), *all_figures()} - SINCE
    claims = [claim for id, claim in all_claims().items() if id in wanted]
    figures = [figure for id, figure in all_figures().items() if id in wanted and options.work == "reproduce"]
    if not options.ids and (len(claims), len(figures)) not in ((134, 0), (134, 59)):
        parser.error(f"e293822 had 134 claims and 59 figures, here are {len(claims)}, {len(figures)}: complete SINCE")
    setting = SimpleNamespace(
        judge=verify_command.measured if options.work == "verify" else reproducing.judged, scale="quick", overrides={},
        store=str(options.store), quiet=True, anywhere=None, seed=None, out=str(options.store / "pages"),
    )  # fmt: skip
    took: dict[str, list[float]] = {}
    verdicts: dict[str, str] = {}

    def tell(news: reproducing.News) -> None:
        what, id, content = news
        if what == "finished":
            _, outcome, seconds, compiled = content
            took[id], verdicts[id] = [round(seconds, 1), round(compiled, 1)], outcome
            print(f"{id:<24} {outcome:<14} {seconds:6.1f} s, {compiled:.1f} compiling", flush=True)

    begun, jobs = time.perf_counter(), reproducing.processes(None)
    reproducing.finish(reproducing.units(claims, figures), setting, jobs, tell)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    record = {
        **about(), "claims": len(claims), "figures": len(figures), "processes": jobs,
        "seconds": round(time.perf_counter() - begun, 1),
        "seconds of processor": round(used.ru_utime + used.ru_stime, 1),
        "seconds that the processes worked": round(sum(each for each, _ in took.values()), 1),
        "of which compilation": round(sum(each for _, each in took.values()), 1),
    }  # fmt: skip
    print(json.dumps(record))
    record["each, [seconds, of which compilation]"] = dict(sorted(took.items(), key=lambda each: -each[1][0]))
    record["verdicts"] = {id: word for id, word in verdicts.items() if "/" not in id}
    options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
