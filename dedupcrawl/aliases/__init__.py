"""What pages say of URLs: strings and markup only, no storage."""
