"""The report: one page, readable offline, that shows what a crawl saved, what it dropped, and why."""
