"""The compiled core: Cython in pure Python mode."""
