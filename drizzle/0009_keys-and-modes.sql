-- migrate: no transaction
-- Indexes are built, and constraints validated, while tickets are sold. What was sold before is live.
ALTER TYPE "public"."invoice_kind" ADD VALUE IF NOT EXISTS 'test_invoice';
--> statement-breakpoint
ALTER TYPE "public"."invoice_kind" ADD VALUE IF NOT EXISTS 'test_corrective';
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS "organization_secrets" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "organization_secrets"
	DROP CONSTRAINT IF EXISTS "organization_secrets_organization_id_organizations_id_fk",
	ADD CONSTRAINT "organization_secrets_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "organization_secrets" VALIDATE CONSTRAINT "organization_secrets_organization_id_organizations_id_fk";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "organization_secrets_organization_id_index" ON "organization_secrets" USING btree ("organization_id");
--> statement-breakpoint
ALTER TABLE "integrations" ADD COLUMN IF NOT EXISTS "revoked_at" timestamp (3) with time zone;
--> statement-breakpoint
-- Only a revocation took an integration's secret away.
UPDATE "integrations" SET "revoked_at" = now() WHERE "secret_hash" IS NULL AND "revoked_at" IS NULL;
--> statement-breakpoint
ALTER TABLE "keys"
	ADD COLUMN IF NOT EXISTS "origins" text[],
	ADD COLUMN IF NOT EXISTS "scopes" text[];
--> statement-breakpoint
ALTER TABLE "keys"
	DROP CONSTRAINT IF EXISTS "keys_are_limited_by_their_kind",
	ADD CONSTRAINT "keys_are_limited_by_their_kind" CHECK (("keys"."origins" is null or "keys"."channel_id" is not null) and ("keys"."scopes" is null or "keys"."integration_id" is not null)) NOT VALID;
--> statement-breakpoint
ALTER TABLE "keys" VALIDATE CONSTRAINT "keys_are_limited_by_their_kind";
--> statement-breakpoint
ALTER TABLE "changes" ADD COLUMN IF NOT EXISTS "mode" "key_mode" DEFAULT 'live' NOT NULL;
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN IF NOT EXISTS "mode" "key_mode" DEFAULT 'live' NOT NULL;
--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN IF NOT EXISTS "mode" "key_mode" DEFAULT 'live' NOT NULL;
--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN IF NOT EXISTS "mode" "key_mode" DEFAULT 'live' NOT NULL;
--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN IF NOT EXISTS "mode" "key_mode" DEFAULT 'live' NOT NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "changes_in_feed_by_mode" ON "changes" USING btree ("organization_id","mode","feed_position") WHERE "changes"."feed_position" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "changes_of_audience_by_mode" ON "changes" USING btree ("organization_id","mode",coalesce("channel_id", ''),"feed_position") WHERE "changes"."feed_position" is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "tickets_qr_code_in_event_by_mode" ON "tickets" USING btree ("qr_code","event_id","mode") WHERE "tickets"."status" <> 'expired';
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "changes_in_feed";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "changes_of_audience";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_qr_code_in_event";
--> statement-breakpoint
-- Test mode has the same capacity, and counters of its own: see `stockId` in src/domain/ticket-rate/table.ts.
INSERT INTO "stock" ("id", "capacity", "sold_before")
	SELECT 'test/' || "id", "capacity", "sold_before" FROM "stock" WHERE "id" NOT LIKE 'test/%'
	ON CONFLICT DO NOTHING;
