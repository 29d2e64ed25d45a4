"""What a recognition service is built on: a handler, a name and a version that keep the contract.

- `handler`  - what an author writes: `Source` in, `Recognition` out, or `Refused`
- `service`  - `Service`: the handler, and who speaks for it
- `settings` - `ServiceSettings`: its limits
- `runtime`  - `run` and `serve`: one service, until it is told to stop
- `decision` - what to do with a request (C4), pure; `memory` - the jobs that were handled
- `intake`   - requests in, answers out; `acks`, `replies` - the envelopes
- `work`     - one job, from its source to its verdict; `folder` - where sources lie meanwhile
- `outside`  - a system elsewhere that reads the files, where there is one
- `children` - the child processes; `child`, `frames` - what runs in one, how it is spoken to
- `wording`  - what people are told; `testing` - a handler on a file, for its tests

Only what a child process needs is imported here: `run` and `serve` are in `runtime`.
"""

from armka.sdk.handler import Answer, Handler, Recognition, Refused, Source
from armka.sdk.outside import Answered, Errand, Outside
from armka.sdk.service import MissingAttempt, Service

__all__ = [
    "Answer",
    "Answered",
    "Errand",
    "Handler",
    "MissingAttempt",
    "Outside",
    "Recognition",
    "Refused",
    "Service",
    "Source",
]
