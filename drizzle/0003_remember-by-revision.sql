ALTER TABLE "events" ADD COLUMN "revision" uuid DEFAULT gen_random_uuid() NOT NULL;--> statement-breakpoint
-- Whatever is written of an event gives it another revision.
CREATE FUNCTION "renew_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := gen_random_uuid();
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "renew_event" BEFORE UPDATE ON "events" FOR EACH ROW EXECUTE FUNCTION "renew_event"();--> statement-breakpoint
-- And so does what is written of anything that is listed under it, but once a transaction: nobody has seen the revision
-- that this one has given it.
CREATE FUNCTION "renew_events_of_rates"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE events SET revision = DEFAULT
  WHERE id IN (SELECT event_id FROM touched) AND xmin <> pg_current_xact_id()::xid;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE FUNCTION "renew_events_of_children"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE events SET revision = DEFAULT
  WHERE id IN (SELECT event_id FROM ticket_rates WHERE id IN (SELECT ticket_rate_id FROM touched))
    AND xmin <> pg_current_xact_id()::xid;
  RETURN NULL;
END
$$;--> statement-breakpoint
-- What a row was and what it is, because it may have come from elsewhere.
DO $$
DECLARE
  touched text;
  renewed text;
  moment text;
BEGIN
  FOREACH touched IN ARRAY ARRAY['ticket_rates', 'prices', 'supplements', 'questions'] LOOP
    renewed := CASE touched WHEN 'ticket_rates' THEN 'rates' ELSE 'children' END;
    FOREACH moment IN ARRAY ARRAY['insert new', 'update new', 'update old', 'delete old'] LOOP
      EXECUTE format(
        'CREATE TRIGGER %I AFTER %s ON %I REFERENCING %s TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION %I()',
        'renew_events_on_' || replace(moment, ' ', '_'), split_part(moment, ' ', 1), touched, split_part(moment, ' ', 2),
        'renew_events_of_' || renewed
      );
    END LOOP;
  END LOOP;
END
$$;
