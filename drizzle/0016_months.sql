-- migrate: no transaction
-- What only grows gets a partition a month, so that old months can be dropped (src/database/months.ts makes the next
-- ones). Each table becomes the first partition of a new one with its name, while tickets are sold: a constraint that
-- was validated before spares the attaching a scan. Unique indexes stay those of each partition.
CREATE TABLE IF NOT EXISTS "dropped_changes" (
	"organization_id" text NOT NULL REFERENCES "public"."organizations"("id"),
	"mode" "key_mode" DEFAULT 'live' NOT NULL,
	"audience" text NOT NULL,
	"feed_position" bigint NOT NULL,
	"id" text NOT NULL,
	CONSTRAINT "dropped_changes_organization_id_mode_audience_pk" PRIMARY KEY("organization_id","mode","audience")
);
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS "dropped_sequences" (
	"organization_id" text NOT NULL REFERENCES "public"."organizations"("id"),
	"subject_id" text NOT NULL,
	"sequence" integer NOT NULL,
	CONSTRAINT "dropped_sequences_subject_id_organization_id_pk" PRIMARY KEY("subject_id","organization_id")
);
--> statement-breakpoint
-- A delivery is written in the statement that writes its change, and goes before it.
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT IF EXISTS "webhook_deliveries_of_changes";
--> statement-breakpoint
DO $$
DECLARE
	alphabet CONSTANT text := '0123456789abcdefghjkmnpqrstvwxyz';
	-- The first partition reaches to the end of the next month, so that nothing is made in a hurry.
	first_end CONSTANT timestamp := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months';
	milliseconds bigint := extract(epoch FROM first_end) * 1000;
	time_of_id text := '';
	first_partition text;
	catch_all text;
	grown record;
	found record;
	has_rows boolean;
BEGIN
	FOR place IN 1..10 LOOP
		time_of_id := substr(alphabet, (milliseconds % 32)::integer + 1, 1) || time_of_id;
		milliseconds := milliseconds / 32;
	END LOOP;
	FOR grown IN SELECT * FROM (VALUES
		('provider_events', 'created_at', first_end || '+00', 'payments, provider_events'),
		('check_ins', 'created_at', first_end || '+00', 'tickets, check_ins, integrations'),
		('webhook_deliveries', 'change_id', 'chg_' || time_of_id, 'webhook_deliveries, webhooks'),
		('changes', 'id', 'chg_' || time_of_id, 'changes, organizations, channels')
	) AS listed (name, key, bound, locks) LOOP
		CONTINUE WHEN (SELECT relkind FROM pg_class WHERE oid = grown.name::regclass) = 'p';
		first_partition := grown.name || to_char(first_end - interval '1 day', '"_until_"YYYY_MM');
		catch_all := grown.name || '_default';
		-- Rows of a later month, by a clock that is far ahead.
		EXECUTE format('CREATE TABLE IF NOT EXISTS %I (LIKE %I INCLUDING ALL EXCLUDING CONSTRAINTS)', catch_all, grown.name);
		EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS "of_first_partition",
			ADD CONSTRAINT "of_first_partition" CHECK (%I < %L) NOT VALID', grown.name, grown.key, grown.bound);
		COMMIT;
		EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %I >= %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
			grown.name, grown.key, grown.bound, catch_all);
		COMMIT;
		EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT "of_first_partition"', grown.name);
		COMMIT;
		-- Attaching joins the foreign keys, for which the tables that they lead to are locked too. Shorter than the time
		-- after which PostgreSQL looks for deadlocks, so that this gives way, and not a sale.
		PERFORM set_config('lock_timeout', '500ms', true);
		EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', grown.locks);
		-- They are for the version before the organization was in the keys, which does not run on these tables.
		FOR found IN SELECT tgname FROM pg_trigger WHERE tgrelid = grown.name::regclass AND NOT tgisinternal LOOP
			EXECUTE format('DROP TRIGGER %I ON %I', found.tgname, grown.name);
		END LOOP;
		EXECUTE format('ALTER TABLE %I RENAME TO %I', grown.name, first_partition);
		EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING STORAGE) PARTITION BY RANGE (%I)',
			grown.name, first_partition, grown.key);
		FOR found IN SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
				WHERE conrelid = first_partition::regclass AND contype = 'f' LOOP
			EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', grown.name, found.conname, found.definition);
		END LOOP;
		FOR found IN SELECT privilege_type AS privilege, coalesce(quote_ident(rolname), 'PUBLIC') AS grantee
				FROM pg_class, aclexplode(relacl) AS acl LEFT JOIN pg_roles ON pg_roles.oid = grantee
				WHERE pg_class.oid = first_partition::regclass AND grantee <> relowner LOOP
			EXECUTE format('GRANT %s ON %I TO %s', found.privilege, grown.name, found.grantee);
		END LOOP;
		EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I DEFAULT', grown.name, catch_all);
		EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)',
			grown.name, first_partition, grown.bound);
		EXECUTE format('ALTER TABLE %I DROP CONSTRAINT "of_first_partition"', first_partition);
		COMMIT;
		-- Autovacuum looks at partitions alone. Of an empty table PostgreSQL would remember that it is.
		EXECUTE format('SELECT EXISTS (SELECT FROM %I)', grown.name) INTO has_rows;
		IF has_rows THEN
			EXECUTE format('ANALYZE %I', grown.name);
		END IF;
	END LOOP;
END
$$;
