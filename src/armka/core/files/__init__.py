"""Files: what an upload is (`sniff`), uploads, further attempts, and what a crash left in S3."""
