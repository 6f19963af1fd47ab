"""A report in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


class Window:
    """One that shows a report after another, and what it complained of or asked the network for since it was opened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path) -> Window:
        """Show a report on a wide screen, by day."""
        self.complaints.clear()
        self.requests.clear()
        self.resize(1280)
        self.page.emulate_media(color_scheme="light")
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector("html[data-ready]")
        return self

    def rows(self, name: str) -> list[str]:
        return self.page.locator(f"[data-table={name}] tbody tr").all_inner_texts()

    def compare(self, number: int = 0, name: str = "duplicates") -> str:
        """Lay two pages side by side; what the dialog says."""
        self.page.locator(f"[data-table={name}] tbody tr").nth(number).get_by_role(
            "button", name="side by side"
        ).click()
        text = self.page.locator("dialog[open]").inner_text()
        self.page.get_by_role("button", name="close").click()
        return text

    def lines(self, selector: str) -> int:
        """That the text of an element takes."""
        lines = """(element) => {
            const range = document.createRange();
            range.selectNodeContents(element);
            return new Set([...range.getClientRects()].map((line) => line.top)).size;
        }"""
        return int(self.page.locator(selector).evaluate(lines))

    def resize(self, width: int) -> int:
        """Make the window so wide; how wide the page is in it."""
        self.page.set_viewport_size({"width": width, "height": 800})
        return int(self.page.evaluate("document.documentElement.scrollWidth"))


def contrast(page: Page, selector: str) -> float:
    """The contrast of an element's text with what lies behind it (WCAG 2, 1.4.3)."""
    colours = page.evaluate(
        """(selector) => {
            const element = document.querySelector(selector);
            const style = getComputedStyle(element);
            let behind = element;
            while (behind.parentElement && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)')
                behind = behind.parentElement;
            const ink = element instanceof SVGElement ? style.fill : style.color;
            return [ink, getComputedStyle(behind).backgroundColor];
        }""",
        selector,
    )
    light, dark = sorted((luminance(colour) for colour in colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    shares = [int(share) / 255 for share in re.findall(r"\d+", colour)[:3]]
    red, green, blue = ((s / 12.92) if s <= 0.03928 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
