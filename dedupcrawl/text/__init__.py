"""Parts of a page that users or known programs select or exclude, by CSS selectors and regular expressions."""
