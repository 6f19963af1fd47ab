"""Matplotlib where there is no screen."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

__all__ = ["plt"]
