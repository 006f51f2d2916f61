"""Kim and Suzuki: hardness without a chain, one step with it, log2 k steps alone."""
