CREATE TYPE "public"."change_type" AS ENUM('payment.paid', 'payment.failed', 'payment.expired', 'payment.refunded', 'ticket.activated', 'ticket.cancelled', 'ticket.entered', 'rate.sold_out', 'rate.available');--> statement-breakpoint
CREATE TYPE "public"."check_in_direction" AS ENUM('in', 'out');--> statement-breakpoint
CREATE TYPE "public"."check_in_result" AS ENUM('OK', 'ALREADY_ENTERED', 'NOT_INSIDE', 'UNPAID', 'CANCELLED', 'WRONG_EVENT', 'TOO_EARLY', 'UNKNOWN');--> statement-breakpoint
CREATE TYPE "public"."delivery_medium" AS ENUM('email', 'whatsapp');--> statement-breakpoint
CREATE TYPE "public"."delivery_status" AS ENUM('pending', 'sent', 'skipped', 'dead');--> statement-breakpoint
CREATE TYPE "public"."invoice_kind" AS ENUM('invoice', 'corrective');--> statement-breakpoint
CREATE TYPE "public"."refund_reason" AS ENUM('REQUESTED', 'WARRANTY', 'LATE_NO_CAPACITY', 'CANCELLED', 'PAID_TWICE');--> statement-breakpoint
CREATE TYPE "public"."refund_status" AS ENUM('pending', 'succeeded', 'failed');--> statement-breakpoint
CREATE TYPE "public"."webhook_delivery_status" AS ENUM('pending', 'delivered', 'dead');--> statement-breakpoint
CREATE TYPE "public"."webhook_status" AS ENUM('enabled', 'disabled', 'deleted');--> statement-breakpoint
CREATE TABLE "changes" (
	"id" text PRIMARY KEY NOT NULL,
	"transaction_id" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "changes_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"type" "change_type" NOT NULL,
	"subject_id" text NOT NULL,
	"sequence" integer NOT NULL,
	"organization_id" text NOT NULL,
	"channel_id" text,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "check_ins" (
	"integration_id" text NOT NULL,
	"nonce" text NOT NULL,
	"request_hash" text NOT NULL,
	"ticket_id" text,
	"direction" "check_in_direction" NOT NULL,
	"force" boolean NOT NULL,
	"result" "check_in_result" NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"first_entered_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "check_ins_integration_id_nonce_pk" PRIMARY KEY("integration_id","nonce")
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"medium" "delivery_medium" NOT NULL,
	"recipient" text NOT NULL,
	"status" "delivery_status" DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "invoice_series" (
	"organization_id" text NOT NULL,
	"kind" "invoice_kind" NOT NULL,
	"year" integer NOT NULL,
	"last" integer NOT NULL,
	CONSTRAINT "invoice_series_organization_id_kind_year_pk" PRIMARY KEY("organization_id","kind","year")
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"kind" "invoice_kind" NOT NULL,
	"year" integer NOT NULL,
	"number" integer NOT NULL,
	"reference" text NOT NULL,
	"payment_id" text NOT NULL,
	"refund_id" text,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "charges" (
	"id" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"provider" text NOT NULL,
	"reference" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "charges_positive" CHECK ("charges"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "provider_events" (
	"provider" text NOT NULL,
	"id" text NOT NULL,
	"type" text NOT NULL,
	"payment_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_events_provider_id_pk" PRIMARY KEY("provider","id")
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"id" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"charge_id" text NOT NULL,
	"ticket_id" text,
	"organization_id" text NOT NULL,
	"channel_id" text NOT NULL,
	"reason" "refund_reason" NOT NULL,
	"status" "refund_status" DEFAULT 'pending' NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"idempotency_key" text,
	"request_hash" text,
	"reference" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"succeeded_at" timestamp (3) with time zone,
	CONSTRAINT "refunds_positive" CHECK ("refunds"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"webhook_id" text NOT NULL,
	"change_id" text NOT NULL,
	"status" "webhook_delivery_status" DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_error" text,
	"last_status" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	CONSTRAINT "webhook_deliveries_webhook_id_change_id_pk" PRIMARY KEY("webhook_id","change_id")
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"channel_id" text,
	"integration_id" text,
	"url" text NOT NULL,
	"types" "change_type"[] NOT NULL,
	"status" "webhook_status" DEFAULT 'enabled' NOT NULL,
	"disabled_reason" text,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_secret_until" timestamp (3) with time zone,
	"failing_since" timestamp (3) with time zone,
	"paused_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhooks_have_one_owner" CHECK (num_nonnulls("webhooks"."channel_id", "webhooks"."integration_id") = 1)
);
--> statement-breakpoint
DROP INDEX "payments_pending_expires_at";--> statement-breakpoint
DROP INDEX "payments_pending_ticket_rate";--> statement-breakpoint
DROP INDEX "tickets_qr_code_in_event";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "refunded_amount" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "invoice_reference" text;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "session_id" text;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "session_url" text;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "session_open" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "session_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "session_asked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "first_entry_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "document_token" text;--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "cancelled_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "check_ins" ADD CONSTRAINT "check_ins_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "check_ins" ADD CONSTRAINT "check_ins_ticket_id_tickets_id_fk" FOREIGN KEY ("ticket_id") REFERENCES "public"."tickets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_series" ADD CONSTRAINT "invoice_series_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_refund_id_refunds_id_fk" FOREIGN KEY ("refund_id") REFERENCES "public"."refunds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "charges" ADD CONSTRAINT "charges_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_events" ADD CONSTRAINT "provider_events_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_charge_id_charges_id_fk" FOREIGN KEY ("charge_id") REFERENCES "public"."charges"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_ticket_id_tickets_id_fk" FOREIGN KEY ("ticket_id") REFERENCES "public"."tickets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_change_id_changes_id_fk" FOREIGN KEY ("change_id") REFERENCES "public"."changes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "changes_of_subject" ON "changes" USING btree ("subject_id","sequence");--> statement-breakpoint
CREATE INDEX "changes_of_organization" ON "changes" USING btree ("organization_id","transaction_id","position");--> statement-breakpoint
CREATE INDEX "changes_of_every_channel" ON "changes" USING btree ("organization_id","transaction_id","position") WHERE "changes"."channel_id" is null;--> statement-breakpoint
CREATE INDEX "changes_of_channel" ON "changes" USING btree ("channel_id","transaction_id","position");--> statement-breakpoint
CREATE INDEX "check_ins_ticket_id_created_at_index" ON "check_ins" USING btree ("ticket_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "deliveries_once" ON "deliveries" USING btree ("payment_id","medium","recipient");--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("due_at") WHERE "deliveries"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_in_series" ON "invoices" USING btree ("organization_id","kind","year","number");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_of_refund" ON "invoices" USING btree ("refund_id");--> statement-breakpoint
CREATE UNIQUE INDEX "charges_reference" ON "charges" USING btree ("provider","reference");--> statement-breakpoint
CREATE INDEX "charges_payment_id_index" ON "charges" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "refunds_payment_id_index" ON "refunds" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "refunds_ticket_id_index" ON "refunds" USING btree ("ticket_id");--> statement-breakpoint
CREATE INDEX "refunds_reference_index" ON "refunds" USING btree ("reference");--> statement-breakpoint
CREATE UNIQUE INDEX "refunds_idempotency_key" ON "refunds" USING btree ("idempotency_key");--> statement-breakpoint
CREATE INDEX "refunds_due" ON "refunds" USING btree ("due_at") WHERE "refunds"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("webhook_id","due_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_dead" ON "webhook_deliveries" USING btree ("webhook_id","change_id") WHERE "webhook_deliveries"."status" = 'dead';--> statement-breakpoint
CREATE INDEX "webhooks_channel_id_index" ON "webhooks" USING btree ("channel_id");--> statement-breakpoint
CREATE INDEX "webhooks_integration_id_index" ON "webhooks" USING btree ("integration_id");--> statement-breakpoint
CREATE INDEX "payments_unpaid_expires_at" ON "payments" USING btree ("expires_at") WHERE "payments"."status" in ('pending', 'processing');--> statement-breakpoint
CREATE INDEX "payments_unpaid_ticket_rate" ON "payments" USING btree ("ticket_rate_id","expires_at") WHERE "payments"."status" in ('pending', 'processing');--> statement-breakpoint
CREATE UNIQUE INDEX "payments_session" ON "payments" USING btree ("provider","session_id") WHERE "payments"."session_id" is not null;--> statement-breakpoint
CREATE INDEX "payments_session_open" ON "payments" USING btree ("session_due_at") WHERE "payments"."session_open";--> statement-breakpoint
CREATE UNIQUE INDEX "tickets_document_token" ON "tickets" USING btree ("document_token") WHERE "tickets"."document_token" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "tickets_qr_code_in_event" ON "tickets" USING btree ("qr_code","event_id") WHERE "tickets"."status" <> 'expired';--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_refund_no_more_than_was_paid" CHECK ("payments"."refunded_amount" between 0 and "payments"."total_amount");