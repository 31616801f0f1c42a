-- migrate: no transaction
-- Positions are given to what is there in parts, and indexes of a large table are made while it is sold from.
CREATE TABLE IF NOT EXISTS "channel_organizations" (
	"channel_id" text NOT NULL CONSTRAINT "channel_organizations_channel_id_channels_id_fk" REFERENCES "channels"("id"),
	"organization_id" text NOT NULL CONSTRAINT "channel_organizations_organization_id_organizations_id_fk" REFERENCES "organizations"("id"),
	"number" integer NOT NULL GENERATED ALWAYS AS IDENTITY,
	CONSTRAINT "channel_organizations_channel_id_organization_id_pk" PRIMARY KEY ("channel_id", "organization_id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "channel_organizations_number" ON "channel_organizations" ("number");
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS "change_feeds" (
	"organization_id" text PRIMARY KEY CONSTRAINT "change_feeds_organization_id_organizations_id_fk" REFERENCES "organizations"("id"),
	"last_position" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
-- First, so that no grant comes to be behind the back of what follows.
ALTER TABLE "grants"
	DROP CONSTRAINT IF EXISTS "grants_are_remembered",
	ADD CONSTRAINT "grants_are_remembered" FOREIGN KEY ("channel_id", "organization_id")
		REFERENCES "channel_organizations" ("channel_id", "organization_id") NOT VALID;
--> statement-breakpoint
-- Grants that are gone are known by what was sold under them.
INSERT INTO "channel_organizations" ("channel_id", "organization_id")
SELECT "channel_id", "organization_id" FROM "grants"
UNION SELECT "channel_id", "organization_id" FROM "payments"
ORDER BY 1, 2
ON CONFLICT DO NOTHING;
--> statement-breakpoint
ALTER TABLE "grants" VALIDATE CONSTRAINT "grants_are_remembered";
--> statement-breakpoint
ALTER TABLE "changes" ADD COLUMN IF NOT EXISTS "feed_position" bigint;
--> statement-breakpoint
-- Gives what is there its positions in the order that the feed had until now. What commits meanwhile is given its own by
-- the service.
DO $$
DECLARE
	of_organization text;
	last_transaction xid8;
	last_written bigint;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_attribute
		WHERE attrelid = 'changes'::regclass AND attname = 'transaction_id' AND NOT attisdropped) THEN
		RETURN;
	END IF;
	FOR of_organization IN SELECT id FROM organizations ORDER BY id LOOP
		INSERT INTO change_feeds (organization_id) VALUES (of_organization) ON CONFLICT DO NOTHING;
		last_transaction := '0';
		last_written := 0;
		LOOP
			WITH feed AS MATERIALIZED (
				SELECT last_position FROM change_feeds WHERE organization_id = of_organization FOR UPDATE
			),
			part AS MATERIALIZED (
				SELECT id, transaction_id, position, row_number() OVER (ORDER BY transaction_id, position) AS place
				FROM changes
				WHERE organization_id = of_organization AND feed_position IS NULL
					AND (transaction_id, position) > (last_transaction, last_written)
				ORDER BY transaction_id, position LIMIT 10000
			),
			given AS (
				UPDATE changes SET feed_position = feed.last_position + part.place FROM feed, part
				WHERE changes.id = part.id AND changes.feed_position IS NULL
			),
			moved AS (
				UPDATE change_feeds SET last_position = last_position + (SELECT count(*) FROM part)
				WHERE organization_id = of_organization
			)
			SELECT transaction_id, position INTO last_transaction, last_written
			FROM part CROSS JOIN feed ORDER BY place DESC LIMIT 1;
			EXIT WHEN NOT FOUND;
			COMMIT;
		END LOOP;
		COMMIT;
	END LOOP;
END
$$;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "changes_without_position" ON "changes" ("organization_id", "sequence") WHERE "feed_position" IS NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "changes_in_feed" ON "changes" ("organization_id", "feed_position") WHERE "feed_position" IS NOT NULL;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "changes_of_audience" ON "changes" ("organization_id", coalesce("channel_id", ''), "feed_position") WHERE "feed_position" IS NOT NULL;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "changes_of_organization";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "changes_of_every_channel";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "changes_of_channel";
--> statement-breakpoint
-- Nothing that sells reads them. A process of the version before can't read its feed from here on; its cursors are over
-- as well.
-- squawk-ignore ban-drop-column
ALTER TABLE "changes" DROP COLUMN IF EXISTS "transaction_id", DROP COLUMN IF EXISTS "position";
