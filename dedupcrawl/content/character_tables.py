"""Bits and classes of characters, as the core has them."""

from dedupcrawl.core.characters import ALONE, CJK, DIGIT, LETTER, MARK, TOUCH, TOUCHING

__all__ = ["ALONE", "CJK", "DIGIT", "LETTER", "MARK", "TOUCH", "TOUCHING"]
