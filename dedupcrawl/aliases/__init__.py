"""Aliases of URLs that pages state: only strings and markup, no storage."""
