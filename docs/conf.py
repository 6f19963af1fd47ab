"""Sphinx: ``make docs``. Pages are Markdown that reads well without it, too."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "dedupcrawl"
author = "the dedupcrawl authors"
release = version = installed_version("dedupcrawl")
copyright = author

extensions = ["myst_parser", "sphinx_copybutton", "command_help"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["several-workers/**", "_build/**"]
myst_heading_anchors = 3
copybutton_prompt_text = r"\$ |> |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = "dedupcrawl"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
templates_path: list[str] = []
