-- migrate: no transaction
-- Indexes by the time of creation lose the identifier, a third of their bytes: few tickets are of one millisecond, and
-- lists sort these. Each is built while tickets are sold, before the one that it replaces is dropped.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_channel_created" ON "tickets" USING btree ("organization_id","mode","channel_id","created_at");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_ended_created" ON "tickets" USING btree ("organization_id","mode","channel_id","ended","created_at") WHERE "tickets"."ended" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_rate_created" ON "tickets" USING btree ("organization_id","mode","ticket_rate_id","channel_id","created_at");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_email_created" ON "tickets" USING btree ("organization_id","mode","channel_id",lower("email"),"created_at");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_referral_created" ON "tickets" USING btree ("organization_id","mode","channel_id","referral_id","created_at") WHERE "tickets"."referral_id" is not null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_created";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_that_ended";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_of_rate";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_email";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_referral";
