-- migrate: no transaction
-- Mails that tell of a refund, a cancellation or another date, the sequence of an event's calendar entry, and an index by
-- which mails that cost nobody anything are counted. Each index is built while tickets are sold.
ALTER TABLE "deliveries" ADD COLUMN IF NOT EXISTS "notice" jsonb;
--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN IF NOT EXISTS "calendar_sequence" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN IF NOT EXISTS "moved_from" jsonb;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deliveries_bounded" ON "deliveries" USING btree ("organization_id","sent_at") WHERE "deliveries"."occasion" <> '';
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "events_moved" ON "events" USING btree ("id") WHERE "events"."moved_from" is not null;
