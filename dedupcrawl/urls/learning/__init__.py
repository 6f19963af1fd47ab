"""Learning a site's URL rules from its duplicate clusters (Koppula et al., WSDM 2010), and proving them before use."""
