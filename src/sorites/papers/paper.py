"""A paper as the registry knows it. Claims and figures are imported only when asked for."""

import dataclasses
import importlib
from typing import TYPE_CHECKING, Any

from ..ledger import Claim

if TYPE_CHECKING:
    from .figure import Figure


@dataclasses.dataclass(frozen=True)
class Paper:
    slug: str
    title: str
    authors: str
    year: int
    identifier: str  # where it was published
    module: str

    def claims(self) -> dict[str, Claim[Any]]:
        found = importlib.import_module(f"{self.module}.claims").CLAIMS
        return {claim.id: claim for claim in found}

    def figures(self) -> dict[str, "Figure[Any]"]:
        found = importlib.import_module(f"{self.module}.figures").FIGURES
        return {figure.id: figure for figure in found}

    def citation(self) -> str:
        """BibTeX."""
        key = self.authors.split(",")[0].split(" ")[-1].lower() + str(self.year) + self.slug.replace("-", "")
        authors = self.authors.replace(", ", " and ")
        return (
            f"@article{{{key},\n  title = {{{self.title}}},\n  author = {{{authors}}},\n"
            f"  year = {{{self.year}}},\n  note = {{{self.identifier}}}\n}}"
        )


PAPERS = {
    paper.slug: paper
    for paper in (
        Paper(
            "log-icot",
            "Transformers Provably Learn to Internalize Chain-of-Thought",
            "Yixiao Huang, Hanlin Zhu, Zixuan Wang, Jiantao Jiao, Stuart Russell, Somayeh Sojoudi, Song Mei",
            2026,
            "Log-ICoT; the year is that of its newest reference, the text carries no date",
            "sorites.papers.log_icot",
        ),
        Paper(
            "kim-suzuki",
            "Transformers Provably Solve Parity Efficiently with Chain of Thought",
            "Juno Kim, Taiji Suzuki",
            2025,
            "ICLR 2025; the text here is the workshop version, without experiments",
            "sorites.papers.kim_suzuki",
        ),
        Paper(
            "lego",
            "Transformers Provably Learn Chain-of-Thought Reasoning with Length Generalization",
            "Yu Huang, Zixin Wen, Aarti Singh, Yuejie Chi, Yuxin Chen",
            2025,
            "LEGO state tracking; the text carries neither title nor date",
            "sorites.papers.lego",
        ),
        Paper(
            "rl-sft",
            "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently",
            "Bochen Lyu, Yiyang Jia, Xiaohao Cai, Zhanxing Zhu",
            2026,
            "arXiv:2511.17852v2",
            "sorites.papers.rl_sft",
        ),
        Paper(
            "wen",
            "From Sparse Dependence to Sparse Attention: Unveiling How Chain-of-Thought Enhances Transformer Sample Efficiency",
            "Kaiyue Wen, Huaqing Zhang, Hongzhou Lin, Jingzhao Zhang",
            2025,
            "ICLR 2025; arXiv:2410.05459",
            "sorites.papers.wen",
        ),
    )
}
