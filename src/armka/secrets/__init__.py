"""OpenBao, for whoever connects: the fields of a KV secret, read anew as often as asked."""
