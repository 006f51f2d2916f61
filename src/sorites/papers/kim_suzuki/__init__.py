"""Kim and Suzuki: parity is hard without a chain, one step with it, log2 k steps when the chain is the model's own."""
