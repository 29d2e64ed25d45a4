"""scan-gateway: PDF, PNG and JPG to ИС Сканирование, its answer to checked trial balances (ОСВ).

- `scanning`  - what ИС Сканирование is to us: four calls and what may come of them
- `over_http` - it, by HTTP: the one place that knows paths, statuses and headers
- `callbacks` - its calls when a document is at its end
- `circuit`   - an outage is met by waiting, and ended by one trial at a time
- `gateway`   - one file there and its answer back, within the job's time
- `answer`    - the answer as data, within limits; read in a child process
- `recognise` - the handler: an answer becomes documents, or a refusal that a person understands
- `wording`   - what people are told
"""

NAME = "scan-gateway"
VERSION = "0.1.0"
