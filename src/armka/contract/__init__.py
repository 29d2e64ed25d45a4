"""The contract between the core and the recognition services, and nothing else.

The JSON Schemas in ``schemas/`` (``docs/contracts/`` in the source tree) are the source of truth;
the structs here say the same thing fit for the hot path, and a test holds the two against each
other with generated messages, both ways.

- `vocabulary` - pipelines, file types, statuses, error codes
- `request`    - what the core asks (C1)
- `envelope`   - what a service answers (C2)
- `result`     - the result file (§2b)
- `message_ids`, `subjects`, `object_keys` - the names that travel around the bodies
- `codec`      - bytes to messages and back; `outcome` - the answer to an envelope (I8)
- `schema_files` - the JSON Schema files as shipped
"""
