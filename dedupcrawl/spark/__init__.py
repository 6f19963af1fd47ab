"""Training on Spark: this package reads, divides and sorts rows, and `urls` learns from them."""

import pyspark  # noqa: F401 - first, so that an error names the extra "spark", not one that installs only pyarrow
