"""Known software: the programs that run most sites, how they are recognized, and the rules for their URLs."""
