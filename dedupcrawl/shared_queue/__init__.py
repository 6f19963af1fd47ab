"""scrapy-redis's scheduler, made to lose nothing: a project names it as its SCHEDULER; nobody else imports it."""
