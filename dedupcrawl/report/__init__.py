"""What people look at: one page, opened offline, of what a crawl saved and why."""
