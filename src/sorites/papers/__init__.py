"""The papers: their claims and figures; the only place that names a paper's hyperparameters."""
