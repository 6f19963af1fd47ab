"""The work of training and `check` that Spark does: reading, dividing and sorting; other packages learn and judge."""

import pyspark  # noqa: F401 - first: where it is missing, that extra is named, and not the one that brings pyarrow alone
