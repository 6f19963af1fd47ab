"""Learning URL rules: tokens, differences, generalization, contexts, the ledger and the priors."""
