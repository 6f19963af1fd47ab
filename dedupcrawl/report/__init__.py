"""The report: one page, readable offline, that shows what a crawl saved and dropped, and why."""
