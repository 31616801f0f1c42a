-- migrate: no transaction
-- Day of a sale on the clock of its venue, written when it is paid from here on. Tickets that were paid before get the day
-- that the venue's time zone of now makes of it, in parts, by identifier, while tickets are sold.
ALTER TABLE "tickets" ADD COLUMN IF NOT EXISTS "sold_on" date;
--> statement-breakpoint
DO $$
DECLARE
	before text := '';
	last text;
BEGIN
	LOOP
		SELECT max(id) INTO last FROM (SELECT id FROM tickets WHERE id > before ORDER BY id LIMIT 5000) AS part;
		EXIT WHEN last IS NULL;
		UPDATE tickets SET sold_on = (activated_at AT TIME ZONE venue.timezone)::date
			FROM (
				SELECT events.id, coalesce(locations.timezone, 'UTC') AS timezone
				FROM events LEFT JOIN locations ON locations.id = events.location_id
			) AS venue
			WHERE tickets.id > before AND tickets.id <= last AND venue.id = tickets.event_id
				AND activated_at IS NOT NULL AND sold_on IS NULL;
		COMMIT;
		before := last;
	END LOOP;
END
$$;
