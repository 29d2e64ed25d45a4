"""The inbox: envelopes become transitions of jobs (I1-I5, I7, I8).

Authoritative: the locked row. A batch of envelopes is one transaction: lock the jobs by id, look at
what they are *now* (an ack that arrives while the publisher's transaction is open waits for it),
decide in memory (`decide`, pure), write set-based, commit, and only then tell the senders. Lost:
nothing that a sender asks an answer for; it repeats (I8).

One poisonous envelope never holds back its neighbours: a batch that the database refuses is taken
apart and each envelope tried alone; what can never be written is kept in `rejected_message`.
"""
