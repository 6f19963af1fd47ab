"""A site to try things on, and a spider for it: ``python -m dedupcrawl.demo``, or ``make crawl``."""
