"""The mapping cycle (`osv-result-mapping`, M1): result files become lines, files get their status.

Authoritative: the rows. A session-level advisory lock only keeps replicas from reading the same
result file twice; it is released with its connection, so nothing has to be rescued. The result file
is read and checked before the transaction; the transaction then asks again, under the job's and the
file's lock, whether the file still waits for this job. Documents of a batch are written together;
where one cannot be written, each is tried alone.
"""
