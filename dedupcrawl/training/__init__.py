"""Log in, rules out."""
