"""A NATS of one's own in operator mode: who there is, what each may say, and the files of it."""
