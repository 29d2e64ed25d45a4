"""What a recognition service is built on: a handler, a name and a version become a service that keeps the contract.

- `handler`    - what an author writes: `Source` in, `Recognition` out, or `Refused`
- `service`    - `Service`: the handler, and who speaks for it; `settings` - `ServiceSettings`, its limits
- `runtime`    - `serve`: one service, run until it is told to stop
- `decision`   - what to do with a request (C4), pure; `memory` - the jobs that were handled
- `exchange`   - requests in, acks out; `work` - one job, from its source to its verdict; `replies` - envelopes
- `children`   - the pool of child processes; `child`, `frames` - what runs in one, and how it is spoken to

Only what a child process needs is imported here: `serve` is in `runtime`.
"""

from armka.sdk.handler import Handler, Recognition, Refused, Source
from armka.sdk.service import MissingAttempt, Service

__all__ = ["Handler", "MissingAttempt", "Recognition", "Refused", "Service", "Source"]
