"""Where signatures are kept and searched: memory, LMDB, Redis; one contract."""
