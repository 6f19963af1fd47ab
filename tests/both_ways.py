"""Compiled steps and the Python that they repeat: what one makes, the other must make."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

import pytest

Made = TypeVar("Made")


class _Counted:
    """An extension that notes which of its functions are called."""

    def __init__(self, compiled: object) -> None:
        self._compiled = compiled
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.called.add(name)
        return getattr(self._compiled, name)


class BothWays:
    """Does something with the extension and without it, in this order the other way round.

    Args:
        kernels: The package whose `compiled` is the extension.

    Attributes:
        needed: Marks tests that need the extension.
        called: The functions of the extension that were called so far.
    """

    def __init__(self, kernels: ModuleType) -> None:
        self._kernels = kernels
        self.needed = pytest.mark.skipif(kernels.compiled is None, reason="the extension was not built: no compiler")
        self.called: set[str] = set()

    def __call__(self, make: Callable[[], Made]) -> Made:
        """What both make; fails where that is not the same."""
        compiled = self._kernels.compiled
        counted = _Counted(compiled)
        try:
            self._kernels.compiled = None  # type: ignore[attr-defined]  # any package of kernels has it
            reference = make()
            self._kernels.compiled = counted  # type: ignore[attr-defined]
            made = make()
        finally:
            self._kernels.compiled = compiled  # type: ignore[attr-defined]
        self.called |= counted.called
        assert made == reference
        return made
