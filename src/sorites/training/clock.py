"""How long an ensemble has trained, and when it has to stop."""


class Clock:
    """Training time without compilation, and what it was spent on."""

    def __init__(self, seconds: float | None):
        self.limit, self.spent, self.chains = seconds, 0.0, 0.0

    def add(self, seconds: float, chains: float) -> None:
        self.spent, self.chains = self.spent + seconds, self.chains + chains

    @property
    def out(self) -> bool:
        return self.limit is not None and self.spent >= self.limit

    @property
    def pace(self) -> float:
        return self.chains / self.spent if self.spent else float("nan")
