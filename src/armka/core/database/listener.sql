-- name: probe
-- Is the other end still there?
select 1
