"""Where signatures are kept and searched: memory, LMDB; one small contract."""
