"""An invented paper: how the steps that teacher forcing needs grow with the chain."""

from sorites import Paper

paper = Paper(
    slug="sixth",
    title="Longer Chains, More Steps? An Example",
    authors="Ada Example, Bo Example",
    year=2026,
    identifier="an example of sorites, not a paper",
    module=__name__,
    about="Do longer chains take more steps of teacher forcing? An invented paper that asks it of serial parity.",
    picture="steps",
)
