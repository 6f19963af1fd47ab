"""The content checks, one file each."""
