"""Hatchling's build hook: compile the kernels where that can be done, into the wheel."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Kernels(BuildHookInterface):
    """Runs `tools/build_kernels.py`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files of the wheel are collected; without a compiler the wheel is one for any machine."""
        root = Path(self.root)
        tool = runpy.run_path(str(root / "tools" / "build_kernels.py"))
        for compiled in tool["build"]():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True  # only these: a checkout may hold others, of other versions of Python
            build_data["artifacts"].append(f"/{compiled.relative_to(root)}")
