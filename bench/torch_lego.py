"""LEGO's decoder as one would write it in PyTorch: embeddings, two heads, feed-forward, five readouts, no cache."""

import time

import torch


class Decoder(torch.nn.Module):
    """One layer, no positions, no residual; a clause of five tokens is one position."""

    def __init__(self, tokens: int, token_width: int, width: int, heads: int, hidden: int):
        super().__init__()
        self.blank, self.heads, self.tokens = tokens - 1, heads, tokens
        self.embeddings = torch.nn.ModuleList(
            torch.nn.Embedding(tokens, token_width, padding_idx=self.blank) for _ in range(5)
        )
        self.into = torch.nn.Linear(5 * token_width, width, bias=False)
        self.query, self.key, self.value, self.out = (torch.nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.down = torch.nn.Linear(width, hidden), torch.nn.Linear(hidden, width, bias=False)
        self.readout = torch.nn.Linear(width, 5 * tokens, bias=False)

    def forward(self, clauses: torch.Tensor) -> torch.Tensor:
        """(batch, clause, 5) -> (batch, clause, 5, token)."""
        batch, count, _ = clauses.shape
        stream = self.into(torch.cat([each(clauses[..., slot]) for slot, each in enumerate(self.embeddings)], dim=-1))
        query, key, value = (
            part(stream).view(batch, count, self.heads, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        pulled = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        stream = self.out(pulled.transpose(1, 2).reshape(batch, count, -1))
        stream = self.down(torch.relu(self.up(stream)))
        return self.readout(stream).view(batch, count, 5, self.tokens)


def sentences(count: int, length: int, variables: int, table: torch.Tensor) -> torch.Tensor:
    """(count, 2 length + 1, 5) tokens: predicates, then answers."""
    actions, values = table.shape
    blank = variables + actions + values
    x = torch.rand(count, variables).argsort(dim=1)[:, : length + 1]
    g, y = torch.randint(actions, (count, length)), [torch.randint(values, (count,))]
    for step in range(length):
        y.append(table[g[:, step], y[-1]])
    clauses = torch.full((count, 2 * length + 1, 5), blank)
    clauses[:, :length, 0], clauses[:, :length, 1], clauses[:, :length, 2] = x[:, 1:], g + variables, x[:, :-1]
    clauses[:, length:, 3], clauses[:, length:, 4] = x, torch.stack(y, dim=1) + variables + actions
    return clauses


def train(
    model: torch.nn.Module, steps: int, batch: int, length: int, variables: int, table: torch.Tensor, rate: float
) -> float:
    """Seconds for `steps` Adam steps on fresh sentences."""
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    begun = time.perf_counter()
    for _ in range(steps):
        clauses = sentences(batch, length, variables, table)
        logits = model(clauses[:, :-1])[:, length:]
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 2), clauses[:, length + 1 :].flatten(), reduction="sum"
        )
        optimiser.zero_grad()
        (loss / batch).backward()
        optimiser.step()
    finish()
    return time.perf_counter() - begun


def finish() -> None:
    """What was asked of a GPU is done."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


@torch.no_grad()
def rollout(model: Decoder, clauses: torch.Tensor, length: int) -> torch.Tensor:
    """Greedy answers; the whole prefix is read again at every step."""
    written = clauses[:, : length + 1]
    for _ in range(length):
        written = torch.cat([written, model(written)[:, -1].argmax(dim=-1)[:, None]], dim=1)
    return written[:, length + 1 :]
