"""Known software: how the programs that run most sites are recognized, and what their URLs mean."""
