"""Whether proofs survive other names, orders and seeds: mutants of obligations, decided again."""
