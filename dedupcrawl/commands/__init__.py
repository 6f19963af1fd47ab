"""The commands of the command line, one module each, imported when they are called."""
