"""Files: what an upload is (`sniff`, pure), uploads, further attempts, and what a crash left in S3."""
