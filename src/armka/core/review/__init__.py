"""The review of what was read: values corrected, proposals accepted, files confirmed and reopened.

- `values`        - a typed value becomes a kept one, or the reason why not
- `documents`     - a document as it is shown: lines, failed checks, corrections, where values stood
- `corrections`   - values changed under the revision that was seen; checks recomputed at once
- `checking`      - kept lines and checks as the rules take them
- `confirmations` - NEEDS_CHECK -> DONE by an analyst's word, and back
- `sources`       - the sheet's grid and the page with its words, drawn from what is kept
"""
