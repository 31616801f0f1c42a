-- migrate: no transaction
-- Indexes of what was given up, for metrics and lists: large tables keep selling while they are built.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deliveries_dead" ON "deliveries" USING btree ("created_at") WHERE "deliveries"."status" = 'dead';
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "refunds_failed" ON "refunds" USING btree ("created_at") WHERE "refunds"."status" = 'failed';
