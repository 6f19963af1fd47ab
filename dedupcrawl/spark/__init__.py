"""What Spark does of training and of `check`: reading, parting and sorting; the judging is that of the other rooms."""
