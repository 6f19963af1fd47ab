"""The work of training that Spark does: reading, dividing and sorting; `urls` learns."""

import pyspark  # noqa: F401 - first: where it is missing, that extra is named, and not the one that brings pyarrow alone
