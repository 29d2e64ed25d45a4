"""What a run of either kit found, for people and for machines.

- `entry`   - what a report holds
- `as_json`, `junit`, `page` - a machine's, a build server's, a person's
"""
