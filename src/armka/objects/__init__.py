"""S3: put, get, verify. Keys are made by us; the bucket is one (`S3_BUCKET`)."""
