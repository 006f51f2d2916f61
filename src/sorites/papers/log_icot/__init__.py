"""Log-ICoT (Huang et al.): the chain is internalised in log2 k stages."""
