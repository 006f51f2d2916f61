"""Everything that exists for speed: kernels, shared prefixes, random draws, compiler options."""
