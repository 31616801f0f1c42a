-- Begin of what is hashed in the scan list of an event. Filled for each event when its list is first read, by a process,
-- because a value that the database makes at random would differ on the servers of a distributed one.
ALTER TABLE "events" ADD COLUMN IF NOT EXISTS "scan_salt" text;
