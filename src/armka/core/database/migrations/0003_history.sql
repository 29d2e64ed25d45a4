-- Which operation asked for an attempt: the timeline of its file tells it.
create index bulk_operation_item_job on bulk_operation_item (recognition_job_id) where recognition_job_id is not null;
