"""Who comes in, what they may do, and what they did: the ground that the HTTP side stands on."""
