ALTER TABLE "events" ADD COLUMN "revision" uuid DEFAULT gen_random_uuid() NOT NULL;--> statement-breakpoint
-- Whatever is written of an event gives it another revision.
CREATE FUNCTION "renew_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := gen_random_uuid();
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "renew_event" BEFORE UPDATE ON "events" FOR EACH ROW EXECUTE FUNCTION "renew_event"();--> statement-breakpoint
-- And so does what is written of anything that is listed under it, or was until then; but once a transaction, because
-- nobody has seen the revision that this one gave it.
CREATE FUNCTION "renew_events_of_rates"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    ids := ARRAY(SELECT event_id FROM touched UNION SELECT event_id FROM former);
  ELSE
    ids := ARRAY(SELECT DISTINCT event_id FROM touched);
  END IF;
  UPDATE events SET revision = DEFAULT WHERE id = ANY (ids) AND xmin <> pg_current_xact_id()::xid;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE FUNCTION "renew_events_of_children"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    ids := ARRAY(SELECT ticket_rate_id FROM touched UNION SELECT ticket_rate_id FROM former);
  ELSE
    ids := ARRAY(SELECT DISTINCT ticket_rate_id FROM touched);
  END IF;
  ids := ARRAY(SELECT DISTINCT event_id FROM ticket_rates WHERE id = ANY (ids));
  UPDATE events SET revision = DEFAULT WHERE id = ANY (ids) AND xmin <> pg_current_xact_id()::xid;
  RETURN NULL;
END
$$;--> statement-breakpoint
DO $$
DECLARE
  listed text;
  renew text;
BEGIN
  FOREACH listed IN ARRAY ARRAY['ticket_rates', 'prices', 'supplements', 'questions'] LOOP
    renew := format(
      'FOR EACH STATEMENT EXECUTE FUNCTION %I()',
      'renew_events_of_' || CASE listed WHEN 'ticket_rates' THEN 'rates' ELSE 'children' END
    );
    EXECUTE format('CREATE TRIGGER renew_events_on_insert AFTER INSERT ON %I REFERENCING NEW TABLE AS touched %s', listed, renew);
    EXECUTE format('CREATE TRIGGER renew_events_on_update AFTER UPDATE ON %I REFERENCING OLD TABLE AS former NEW TABLE AS touched %s', listed, renew);
    EXECUTE format('CREATE TRIGGER renew_events_on_delete AFTER DELETE ON %I REFERENCING OLD TABLE AS touched %s', listed, renew);
  END LOOP;
END
$$;
