-- Lists are ordered by creation, so that nothing reads `sold_tickets` any more. Processes of the version before write it
-- by themselves; the trigger would write it for every change of a paid ticket. A distributed database has no triggers.
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_trigger WHERE tgname = 'list_sold_ticket') THEN
		DROP TRIGGER list_sold_ticket ON tickets;
	END IF;
END
$$;
--> statement-breakpoint
DROP FUNCTION IF EXISTS "list_sold_ticket"();
