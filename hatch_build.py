"""Hatchling's build hook: compile the extensions, put them into the wheel."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Core(BuildHookInterface):
    """Runs `tools/build_core.py`."""

    def dependencies(self) -> list[str]:
        """A compiler, where there is none."""
        tool = self._tool()
        return [] if tool["compiler"]() else [tool["ZIG"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files of the wheel are collected."""
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        made = self._tool()["build"]()  # only these: a checkout may hold others, of other versions of Python
        build_data["artifacts"] += [f"/{path.relative_to(self.root)}" for path in made]

    def _tool(self) -> dict[str, Any]:
        return runpy.run_path(str(Path(self.root, "tools", "build_core.py")))
