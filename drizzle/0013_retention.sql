-- migrate: no transaction
-- Indexes are built while tickets are sold.
CREATE TABLE IF NOT EXISTS "retention_turns" (
	"organization_id" text PRIMARY KEY CONSTRAINT "retention_turns_organization_id_organizations_id_fk" REFERENCES "organizations"("id"),
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS "anonymized_events" (
	"organization_id" text NOT NULL CONSTRAINT "anonymized_events_organization_id_organizations_id_fk" REFERENCES "organizations"("id"),
	"event_id" text NOT NULL CONSTRAINT "anonymized_events_event_id_events_id_fk" REFERENCES "events"("id"),
	"end_date" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "anonymized_events_organization_id_event_id_pk" PRIMARY KEY ("organization_id", "event_id")
);
--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN IF NOT EXISTS "updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL;
--> statement-breakpoint
-- A person's deliveries.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deliveries_recipient" ON "deliveries" USING btree (lower("recipient"));
--> statement-breakpoint
-- What refers to an unpaid payment or its tickets when they are deleted, or is asked whether it does.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invoices_payment_id_index" ON "invoices" USING btree ("payment_id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "idempotency_keys_payment_id_index" ON "idempotency_keys" USING btree ("payment_id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "provider_events_payment" ON "provider_events" USING btree ("payment_id") WHERE "provider_events"."payment_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "retired_documents_ticket_id_index" ON "retired_documents" USING btree ("ticket_id");
--> statement-breakpoint
-- Events of providers, to be deleted by age.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "provider_events_created_at_index" ON "provider_events" USING btree ("created_at");
