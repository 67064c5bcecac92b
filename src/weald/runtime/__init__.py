"""What every stage may import: compilation, threads, counter-based randomness, mathematics, errors, progress."""
