-- migrate: no transaction
-- Indexes are built, and names folded in parts, while tickets are sold.
ALTER TABLE "tickets"
	ADD COLUMN IF NOT EXISTS "search_name" text DEFAULT '' NOT NULL,
	ADD COLUMN IF NOT EXISTS "updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL;
--> statement-breakpoint
-- Folds the names that are there as the service folds new ones: without case and accents, words apart by one space.
DO $$
DECLARE
	last_id text := '';
BEGIN
	LOOP
		WITH part AS MATERIALIZED (
			SELECT id FROM tickets WHERE id > last_id ORDER BY id LIMIT 1000
		),
		folded AS (
			UPDATE tickets SET search_name = trim(regexp_replace(translate(regexp_replace(
				lower(normalize(full_name, NFKD)), '[\u0300-\u036f]', '', 'g'), 'øłđðħŧŋı', 'olddhtni'), '[^[:alnum:]]+', ' ', 'g'))
			FROM part WHERE tickets.id = part.id AND search_name = ''
		)
		SELECT max(id) INTO last_id FROM part;
		EXIT WHEN last_id IS NULL;
		COMMIT;
	END LOOP;
END
$$;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "channels_of_organization" ON "channel_organizations" USING btree ("organization_id","channel_id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "events_slug" ON "events" USING btree ("organization_id","slug","start_date","id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "events_music_genres" ON "events" USING gin ("music_genres");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "locations_city" ON "locations" USING btree (lower("city"));
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "locations_country" ON "locations" USING btree ("country_code");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_created" ON "tickets" USING btree ("organization_id","mode","channel_id","created_at","id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_updated" ON "tickets" USING btree ("organization_id","mode","channel_id","updated_at","id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_paid" ON "tickets" USING btree ("organization_id","mode","channel_id","activated_at","id") WHERE "tickets"."activated_at" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_ended" ON "tickets" USING btree ("organization_id","mode","channel_id","status","created_at","id") WHERE "tickets"."status" in ('cancelled', 'expired');
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_of_rate" ON "tickets" USING btree ("organization_id","mode","ticket_rate_id","channel_id","created_at","id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_email" ON "tickets" USING btree ("organization_id","mode","channel_id",lower("email"),"created_at","id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_name" ON "tickets" USING btree ("organization_id","mode","channel_id","search_name" collate "C","id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_phone" ON "tickets" USING btree ("organization_id","mode","channel_id","phone" collate "C","id") WHERE "tickets"."phone" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_referral" ON "tickets" USING btree ("organization_id","mode","channel_id","referral_id","created_at","id") WHERE "tickets"."referral_id" is not null;
--> statement-breakpoint
-- "tickets_of_rate" serves the sums that read it.
DROP INDEX CONCURRENTLY IF EXISTS "tickets_ticket_rate_id_index";
