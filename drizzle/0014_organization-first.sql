-- migrate: no transaction
-- Primary keys, unique indexes and foreign keys of what is sold contain the organization. Indexes are built,
-- organizations filled in in parts, and constraints validated, while tickets are sold. Keys begin with what the version
-- before looks up by, and a unique index on the counters' id alone stays for its import: a later migration drops it.
ALTER TABLE "stock" ADD COLUMN IF NOT EXISTS "organization_id" text;
--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN IF NOT EXISTS "organization_id" text;
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN IF NOT EXISTS "organization_id" text;
--> statement-breakpoint
ALTER TABLE "provider_events" ADD COLUMN IF NOT EXISTS "organization_id" text;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN IF NOT EXISTS "organization_id" text;
--> statement-breakpoint
ALTER TABLE "check_ins" ADD COLUMN IF NOT EXISTS "organization_id" text;
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN IF NOT EXISTS "organization_id" text;
--> statement-breakpoint
-- A process of the version before names no organization. A later migration takes these triggers away.
CREATE OR REPLACE FUNCTION "fill_organization"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_TABLE_NAME = 'stock' THEN
		NEW.organization_id := (SELECT organization_id FROM ticket_rates WHERE id = regexp_replace(NEW.id, '^test/', '')
			UNION ALL SELECT ticket_rates.organization_id FROM prices JOIN ticket_rates ON ticket_rates.id = prices.ticket_rate_id
				WHERE prices.id = regexp_replace(NEW.id, '^test/', '')
			UNION ALL SELECT organization_id FROM discounts WHERE id = regexp_replace(NEW.id, '^test/', '') LIMIT 1);
	ELSIF TG_TABLE_NAME = 'check_ins' THEN
		NEW.organization_id := (SELECT organization_id FROM integrations WHERE id = NEW.integration_id);
	ELSIF TG_TABLE_NAME = 'webhook_deliveries' THEN
		NEW.organization_id := coalesce(
			(SELECT organization_id FROM webhooks JOIN integrations ON integrations.id = webhooks.integration_id
				WHERE webhooks.id = NEW.webhook_id),
			(SELECT organization_id FROM changes WHERE id = NEW.change_id), '');
	ELSE
		-- An event about a refund named no payment.
		NEW.organization_id := coalesce((SELECT organization_id FROM payments WHERE id = NEW.payment_id), '');
	END IF;
	RETURN NEW;
END
$$;
--> statement-breakpoint
-- A payment or a change that the same statement writes is not there yet: after the statement it is. Triggers run in
-- the order of their names, so that this comes before the check of the foreign key, which then looks at the new row.
-- They are there before anything is left to them.
CREATE OR REPLACE FUNCTION "fill_organization_after"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_TABLE_NAME = 'webhook_deliveries' THEN
		UPDATE webhook_deliveries SET organization_id = NULL
			WHERE webhook_id = NEW.webhook_id AND change_id = NEW.change_id AND organization_id = '';
	ELSE
		EXECUTE format('UPDATE %I SET organization_id = NULL WHERE payment_id = $1 AND organization_id = %L', TG_TABLE_NAME, '')
			USING NEW.payment_id;
	END IF;
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "Fill_organization_after" AFTER INSERT ON "charges"
	FOR EACH ROW WHEN (NEW.organization_id = '') EXECUTE FUNCTION "fill_organization_after"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "Fill_organization_after" AFTER INSERT ON "idempotency_keys"
	FOR EACH ROW WHEN (NEW.organization_id = '') EXECUTE FUNCTION "fill_organization_after"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "Fill_organization_after" AFTER INSERT ON "provider_events"
	FOR EACH ROW WHEN (NEW.organization_id = '' AND NEW.payment_id IS NOT NULL) EXECUTE FUNCTION "fill_organization_after"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "Fill_organization_after" AFTER INSERT ON "deliveries"
	FOR EACH ROW WHEN (NEW.organization_id = '') EXECUTE FUNCTION "fill_organization_after"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "Fill_organization_after" AFTER INSERT ON "webhook_deliveries"
	FOR EACH ROW WHEN (NEW.organization_id = '') EXECUTE FUNCTION "fill_organization_after"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "fill_organization" BEFORE INSERT OR UPDATE ON "stock"
	FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION "fill_organization"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "fill_organization" BEFORE INSERT OR UPDATE ON "charges"
	FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION "fill_organization"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "fill_organization" BEFORE INSERT OR UPDATE ON "idempotency_keys"
	FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION "fill_organization"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "fill_organization" BEFORE INSERT OR UPDATE ON "provider_events"
	FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION "fill_organization"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "fill_organization" BEFORE INSERT OR UPDATE ON "deliveries"
	FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION "fill_organization"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "fill_organization" BEFORE INSERT OR UPDATE ON "check_ins"
	FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION "fill_organization"();
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "fill_organization" BEFORE INSERT OR UPDATE ON "webhook_deliveries"
	FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION "fill_organization"();
--> statement-breakpoint
-- Every row that is written from here on has its organization, so that none is missed behind the part that is read.
DO $$
DECLARE
	filled text;
	block bigint;
	blocks bigint;
BEGIN
	FOREACH filled IN ARRAY ARRAY['stock', 'charges', 'idempotency_keys', 'provider_events', 'deliveries', 'check_ins', 'webhook_deliveries'] LOOP
		blocks := pg_relation_size(filled::regclass) / current_setting('block_size')::bigint;
		block := 0;
		WHILE block <= blocks LOOP
			EXECUTE format('UPDATE %I SET organization_id = NULL WHERE organization_id IS NULL AND ctid >= %L AND ctid < %L',
				filled, format('(%s,0)', block), format('(%s,0)', block + 200));
			COMMIT;
			block := block + 200;
		END LOOP;
	END LOOP;
END
$$;
--> statement-breakpoint
ALTER TABLE "stock"
	DROP CONSTRAINT IF EXISTS "stock_have_an_organization",
	ADD CONSTRAINT "stock_have_an_organization" CHECK ("organization_id" IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE "stock" VALIDATE CONSTRAINT "stock_have_an_organization";
--> statement-breakpoint
-- The constraint spares it a scan, and a repetition changes nothing.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "stock" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "stock" DROP CONSTRAINT IF EXISTS "stock_have_an_organization";
--> statement-breakpoint
ALTER TABLE "charges"
	DROP CONSTRAINT IF EXISTS "charges_have_an_organization",
	ADD CONSTRAINT "charges_have_an_organization" CHECK ("organization_id" IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE "charges" VALIDATE CONSTRAINT "charges_have_an_organization";
--> statement-breakpoint
-- The constraint spares it a scan, and a repetition changes nothing.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "charges" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "charges" DROP CONSTRAINT IF EXISTS "charges_have_an_organization";
--> statement-breakpoint
ALTER TABLE "idempotency_keys"
	DROP CONSTRAINT IF EXISTS "idempotency_keys_have_an_organization",
	ADD CONSTRAINT "idempotency_keys_have_an_organization" CHECK ("organization_id" IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE "idempotency_keys" VALIDATE CONSTRAINT "idempotency_keys_have_an_organization";
--> statement-breakpoint
-- The constraint spares it a scan, and a repetition changes nothing.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "idempotency_keys" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "idempotency_keys" DROP CONSTRAINT IF EXISTS "idempotency_keys_have_an_organization";
--> statement-breakpoint
ALTER TABLE "provider_events"
	DROP CONSTRAINT IF EXISTS "provider_events_have_an_organization",
	ADD CONSTRAINT "provider_events_have_an_organization" CHECK ("organization_id" IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE "provider_events" VALIDATE CONSTRAINT "provider_events_have_an_organization";
--> statement-breakpoint
-- The constraint spares it a scan, and a repetition changes nothing.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "provider_events" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "provider_events" DROP CONSTRAINT IF EXISTS "provider_events_have_an_organization";
--> statement-breakpoint
ALTER TABLE "deliveries"
	DROP CONSTRAINT IF EXISTS "deliveries_have_an_organization",
	ADD CONSTRAINT "deliveries_have_an_organization" CHECK ("organization_id" IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE "deliveries" VALIDATE CONSTRAINT "deliveries_have_an_organization";
--> statement-breakpoint
-- The constraint spares it a scan, and a repetition changes nothing.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "deliveries" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT IF EXISTS "deliveries_have_an_organization";
--> statement-breakpoint
ALTER TABLE "check_ins"
	DROP CONSTRAINT IF EXISTS "check_ins_have_an_organization",
	ADD CONSTRAINT "check_ins_have_an_organization" CHECK ("organization_id" IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE "check_ins" VALIDATE CONSTRAINT "check_ins_have_an_organization";
--> statement-breakpoint
-- The constraint spares it a scan, and a repetition changes nothing.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "check_ins" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "check_ins" DROP CONSTRAINT IF EXISTS "check_ins_have_an_organization";
--> statement-breakpoint
ALTER TABLE "webhook_deliveries"
	DROP CONSTRAINT IF EXISTS "webhook_deliveries_have_an_organization",
	ADD CONSTRAINT "webhook_deliveries_have_an_organization" CHECK ("organization_id" IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" VALIDATE CONSTRAINT "webhook_deliveries_have_an_organization";
--> statement-breakpoint
-- The constraint spares it a scan, and a repetition changes nothing.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "webhook_deliveries" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT IF EXISTS "webhook_deliveries_have_an_organization";
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "changes_id_organization_id_pk" ON "changes" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "check_ins_integration_id_nonce_organization_id_pk" ON "check_ins" USING btree ("integration_id","nonce","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "deliveries_id_organization_id_pk" ON "deliveries" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invoices_id_organization_id_pk" ON "invoices" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "charges_id_organization_id_pk" ON "charges" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "idempotency_keys_id_organization_id_pk" ON "idempotency_keys" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "payments_id_organization_id_pk" ON "payments" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "provider_events_provider_id_organization_id_pk" ON "provider_events" USING btree ("provider","id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "refunds_id_organization_id_pk" ON "refunds" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "stock_id_organization_id_pk" ON "stock" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "retired_documents_token_organization_id_pk" ON "retired_documents" USING btree ("token","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "tickets_id_organization_id_pk" ON "tickets" USING btree ("id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "webhook_deliveries_webhook_id_change_id_organization_id_pk" ON "webhook_deliveries" USING btree ("webhook_id","change_id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "changes_of_subject_in_order" ON "changes" USING btree ("subject_id","sequence","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "deliveries_once" ON "deliveries" USING btree ("payment_id","medium","recipient","occasion","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invoices_once_per_refund" ON "invoices" USING btree ("refund_id","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "charges_reference_of_organization" ON "charges" USING btree ("provider","reference","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "payments_page_token_of_organization" ON "payments" USING btree ("page_token","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "payments_session_of_organization" ON "payments" USING btree ("provider","session_id","organization_id") WHERE "payments"."session_id" is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "refunds_idempotency_key_of_organization" ON "refunds" USING btree ("idempotency_key","organization_id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "stock_id" ON "stock" USING btree ("id");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "tickets_code_in_event" ON "tickets" USING btree ("qr_code","event_id","mode","organization_id") WHERE "tickets"."status" <> 'expired';
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "tickets_document_token_of_organization" ON "tickets" USING btree ("document_token","organization_id") WHERE "tickets"."document_token" is not null;
--> statement-breakpoint
ALTER TABLE "check_ins"
	DROP CONSTRAINT IF EXISTS "check_ins_of_tickets",
	ADD CONSTRAINT "check_ins_of_tickets" FOREIGN KEY ("organization_id","ticket_id") REFERENCES "public"."tickets"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "check_ins" VALIDATE CONSTRAINT "check_ins_of_tickets";
--> statement-breakpoint
ALTER TABLE "redemptions"
	DROP CONSTRAINT IF EXISTS "redemptions_of_tickets",
	ADD CONSTRAINT "redemptions_of_tickets" FOREIGN KEY ("organization_id","ticket_id") REFERENCES "public"."tickets"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "redemptions" VALIDATE CONSTRAINT "redemptions_of_tickets";
--> statement-breakpoint
ALTER TABLE "deliveries"
	DROP CONSTRAINT IF EXISTS "deliveries_of_payments",
	ADD CONSTRAINT "deliveries_of_payments" FOREIGN KEY ("organization_id","payment_id") REFERENCES "public"."payments"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "deliveries" VALIDATE CONSTRAINT "deliveries_of_payments";
--> statement-breakpoint
ALTER TABLE "deliveries"
	DROP CONSTRAINT IF EXISTS "deliveries_of_tickets",
	ADD CONSTRAINT "deliveries_of_tickets" FOREIGN KEY ("organization_id","ticket_id") REFERENCES "public"."tickets"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "deliveries" VALIDATE CONSTRAINT "deliveries_of_tickets";
--> statement-breakpoint
ALTER TABLE "invoices"
	DROP CONSTRAINT IF EXISTS "invoices_of_payments",
	ADD CONSTRAINT "invoices_of_payments" FOREIGN KEY ("organization_id","payment_id") REFERENCES "public"."payments"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "invoices" VALIDATE CONSTRAINT "invoices_of_payments";
--> statement-breakpoint
ALTER TABLE "invoices"
	DROP CONSTRAINT IF EXISTS "invoices_of_refunds",
	ADD CONSTRAINT "invoices_of_refunds" FOREIGN KEY ("organization_id","refund_id") REFERENCES "public"."refunds"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "invoices" VALIDATE CONSTRAINT "invoices_of_refunds";
--> statement-breakpoint
ALTER TABLE "charges"
	DROP CONSTRAINT IF EXISTS "charges_of_payments",
	ADD CONSTRAINT "charges_of_payments" FOREIGN KEY ("organization_id","payment_id") REFERENCES "public"."payments"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "charges" VALIDATE CONSTRAINT "charges_of_payments";
--> statement-breakpoint
ALTER TABLE "idempotency_keys"
	DROP CONSTRAINT IF EXISTS "idempotency_keys_of_payments",
	ADD CONSTRAINT "idempotency_keys_of_payments" FOREIGN KEY ("organization_id","payment_id") REFERENCES "public"."payments"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "idempotency_keys" VALIDATE CONSTRAINT "idempotency_keys_of_payments";
--> statement-breakpoint
ALTER TABLE "provider_events"
	DROP CONSTRAINT IF EXISTS "provider_events_of_payments",
	ADD CONSTRAINT "provider_events_of_payments" FOREIGN KEY ("organization_id","payment_id") REFERENCES "public"."payments"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "provider_events" VALIDATE CONSTRAINT "provider_events_of_payments";
--> statement-breakpoint
ALTER TABLE "refunds"
	DROP CONSTRAINT IF EXISTS "refunds_of_payments",
	ADD CONSTRAINT "refunds_of_payments" FOREIGN KEY ("organization_id","payment_id") REFERENCES "public"."payments"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "refunds" VALIDATE CONSTRAINT "refunds_of_payments";
--> statement-breakpoint
ALTER TABLE "refunds"
	DROP CONSTRAINT IF EXISTS "refunds_of_charges",
	ADD CONSTRAINT "refunds_of_charges" FOREIGN KEY ("organization_id","charge_id") REFERENCES "public"."charges"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "refunds" VALIDATE CONSTRAINT "refunds_of_charges";
--> statement-breakpoint
ALTER TABLE "refunds"
	DROP CONSTRAINT IF EXISTS "refunds_of_tickets",
	ADD CONSTRAINT "refunds_of_tickets" FOREIGN KEY ("organization_id","ticket_id") REFERENCES "public"."tickets"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "refunds" VALIDATE CONSTRAINT "refunds_of_tickets";
--> statement-breakpoint
ALTER TABLE "retired_documents"
	DROP CONSTRAINT IF EXISTS "retired_documents_of_tickets",
	ADD CONSTRAINT "retired_documents_of_tickets" FOREIGN KEY ("organization_id","ticket_id") REFERENCES "public"."tickets"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "retired_documents" VALIDATE CONSTRAINT "retired_documents_of_tickets";
--> statement-breakpoint
ALTER TABLE "webhook_deliveries"
	DROP CONSTRAINT IF EXISTS "webhook_deliveries_of_changes",
	ADD CONSTRAINT "webhook_deliveries_of_changes" FOREIGN KEY ("organization_id","change_id") REFERENCES "public"."changes"("organization_id","id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" VALIDATE CONSTRAINT "webhook_deliveries_of_changes";
--> statement-breakpoint
ALTER TABLE "check_ins" DROP CONSTRAINT IF EXISTS "check_ins_ticket_id_tickets_id_fk";
--> statement-breakpoint
ALTER TABLE "redemptions" DROP CONSTRAINT IF EXISTS "redemptions_ticket_id_tickets_id_fk";
--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT IF EXISTS "deliveries_payment_id_payments_id_fk";
--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT IF EXISTS "deliveries_ticket_id_tickets_id_fk";
--> statement-breakpoint
ALTER TABLE "invoices" DROP CONSTRAINT IF EXISTS "invoices_payment_id_payments_id_fk";
--> statement-breakpoint
ALTER TABLE "invoices" DROP CONSTRAINT IF EXISTS "invoices_refund_id_refunds_id_fk";
--> statement-breakpoint
ALTER TABLE "charges" DROP CONSTRAINT IF EXISTS "charges_payment_id_payments_id_fk";
--> statement-breakpoint
ALTER TABLE "idempotency_keys" DROP CONSTRAINT IF EXISTS "idempotency_keys_payment_id_payments_id_fk";
--> statement-breakpoint
ALTER TABLE "provider_events" DROP CONSTRAINT IF EXISTS "provider_events_payment_id_payments_id_fk";
--> statement-breakpoint
ALTER TABLE "refunds" DROP CONSTRAINT IF EXISTS "refunds_payment_id_payments_id_fk";
--> statement-breakpoint
ALTER TABLE "refunds" DROP CONSTRAINT IF EXISTS "refunds_charge_id_charges_id_fk";
--> statement-breakpoint
ALTER TABLE "refunds" DROP CONSTRAINT IF EXISTS "refunds_ticket_id_tickets_id_fk";
--> statement-breakpoint
ALTER TABLE "retired_documents" DROP CONSTRAINT IF EXISTS "retired_documents_ticket_id_tickets_id_fk";
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT IF EXISTS "webhook_deliveries_change_id_changes_id_fk";
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'changes'::regclass AND conname = 'changes_id_organization_id_pk') THEN
		ALTER TABLE "changes" DROP CONSTRAINT "changes_pkey", ADD CONSTRAINT "changes_id_organization_id_pk" PRIMARY KEY USING INDEX "changes_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'check_ins'::regclass AND conname = 'check_ins_integration_id_nonce_organization_id_pk') THEN
		ALTER TABLE "check_ins" DROP CONSTRAINT "check_ins_integration_id_nonce_pk", ADD CONSTRAINT "check_ins_integration_id_nonce_organization_id_pk" PRIMARY KEY USING INDEX "check_ins_integration_id_nonce_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'deliveries'::regclass AND conname = 'deliveries_id_organization_id_pk') THEN
		ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_pkey", ADD CONSTRAINT "deliveries_id_organization_id_pk" PRIMARY KEY USING INDEX "deliveries_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'invoices'::regclass AND conname = 'invoices_id_organization_id_pk') THEN
		ALTER TABLE "invoices" DROP CONSTRAINT "invoices_pkey", ADD CONSTRAINT "invoices_id_organization_id_pk" PRIMARY KEY USING INDEX "invoices_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'charges'::regclass AND conname = 'charges_id_organization_id_pk') THEN
		ALTER TABLE "charges" DROP CONSTRAINT "charges_pkey", ADD CONSTRAINT "charges_id_organization_id_pk" PRIMARY KEY USING INDEX "charges_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'idempotency_keys'::regclass AND conname = 'idempotency_keys_id_organization_id_pk') THEN
		ALTER TABLE "idempotency_keys" DROP CONSTRAINT "idempotency_keys_pkey", ADD CONSTRAINT "idempotency_keys_id_organization_id_pk" PRIMARY KEY USING INDEX "idempotency_keys_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'payments'::regclass AND conname = 'payments_id_organization_id_pk') THEN
		ALTER TABLE "payments" DROP CONSTRAINT "payments_pkey", ADD CONSTRAINT "payments_id_organization_id_pk" PRIMARY KEY USING INDEX "payments_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'provider_events'::regclass AND conname = 'provider_events_provider_id_organization_id_pk') THEN
		ALTER TABLE "provider_events" DROP CONSTRAINT "provider_events_provider_id_pk", ADD CONSTRAINT "provider_events_provider_id_organization_id_pk" PRIMARY KEY USING INDEX "provider_events_provider_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'refunds'::regclass AND conname = 'refunds_id_organization_id_pk') THEN
		ALTER TABLE "refunds" DROP CONSTRAINT "refunds_pkey", ADD CONSTRAINT "refunds_id_organization_id_pk" PRIMARY KEY USING INDEX "refunds_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'stock'::regclass AND conname = 'stock_id_organization_id_pk') THEN
		ALTER TABLE "stock" DROP CONSTRAINT "stock_pkey", ADD CONSTRAINT "stock_id_organization_id_pk" PRIMARY KEY USING INDEX "stock_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'retired_documents'::regclass AND conname = 'retired_documents_token_organization_id_pk') THEN
		ALTER TABLE "retired_documents" DROP CONSTRAINT "retired_documents_organization_id_token_pk", ADD CONSTRAINT "retired_documents_token_organization_id_pk" PRIMARY KEY USING INDEX "retired_documents_token_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'tickets'::regclass AND conname = 'tickets_id_organization_id_pk') THEN
		ALTER TABLE "tickets" DROP CONSTRAINT "tickets_pkey", ADD CONSTRAINT "tickets_id_organization_id_pk" PRIMARY KEY USING INDEX "tickets_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'webhook_deliveries'::regclass AND conname = 'webhook_deliveries_webhook_id_change_id_organization_id_pk') THEN
		ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_webhook_id_change_id_pk", ADD CONSTRAINT "webhook_deliveries_webhook_id_change_id_organization_id_pk" PRIMARY KEY USING INDEX "webhook_deliveries_webhook_id_change_id_organization_id_pk";
	END IF;
END
$$;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "changes_of_subject";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "deliveries_once_per_occasion";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "invoices_of_refund";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "charges_reference";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "payments_page_token_index";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "payments_session";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "refunds_idempotency_key";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "retired_documents_token_index";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_qr_code_in_event_by_mode";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "tickets_document_token";
