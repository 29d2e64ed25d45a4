"""The job: its graph (`states`, pure) and how it is read (`store`)."""
