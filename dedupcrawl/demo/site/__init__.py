"""The demo site: a small-town paper in English and Chinese that shows its pages under every kind of second URL."""
