"""Page judgement: combines checks, site templates, trust and an index into one verdict for each page."""
