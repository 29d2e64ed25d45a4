"""NATS, for the core and for services: a connection that outlives its server, sending, receiving.

A published message is not a delivered one and a NATS client's word is not the server's. So:

- One `Connection` is a succession of client objects, one TCP connection each; nothing is carried
  over from one to the next (ADR 0006). A confirmation therefore always comes from the connection
  that carried the burst.
- A burst counts as published only when the live connection answered PING after it, and no error
  came in between.
- What was received and not yet settled is bounded, and its age can be asked for: whoever judges
  that nobody answered must first have heard everything.
"""
