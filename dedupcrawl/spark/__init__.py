"""What Spark does of training and of `check`: reading, parting and sorting; the judging is that of the other rooms."""

import pyspark  # noqa: F401 - first: where it is missing, that extra is named, and not the one that brings pyarrow alone
