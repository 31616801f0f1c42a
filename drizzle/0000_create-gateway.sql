CREATE TYPE "public"."key_mode" AS ENUM('live', 'test');--> statement-breakpoint
CREATE TYPE "public"."payment_status" AS ENUM('pending', 'processing', 'paid', 'failed', 'expired', 'cancelled', 'partially_refunded', 'refunded');--> statement-breakpoint
CREATE TYPE "public"."fee_type" AS ENUM('percentage', 'fixed');--> statement-breakpoint
CREATE TYPE "public"."ticket_status" AS ENUM('held', 'active', 'cancelled', 'expired');--> statement-breakpoint
CREATE TABLE "channels" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"channel_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "grants_channel_id_organization_id_pk" PRIMARY KEY("channel_id","organization_id")
);
--> statement-breakpoint
CREATE TABLE "integrations" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"secret_hash" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" text PRIMARY KEY NOT NULL,
	"mode" "key_mode" NOT NULL,
	"channel_id" text,
	"integration_id" text,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "keys_have_one_owner" CHECK (num_nonnulls("keys"."channel_id", "keys"."integration_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"location_id" text,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"description" text,
	"age" text,
	"outfit" text,
	"ambiences" text[] DEFAULT '{}' NOT NULL,
	"music_genres" text[] DEFAULT '{}' NOT NULL,
	"artists" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"display_date" timestamp (3) with time zone,
	"start_date" timestamp (3) with time zone NOT NULL,
	"end_date" timestamp (3) with time zone NOT NULL,
	"image_url" text,
	"iframe_tag_url" text,
	"iframe_script_url" text,
	"search_words" "tsvector" NOT NULL,
	CONSTRAINT "events_end_after_they_start" CHECK ("events"."end_date" >= "events"."start_date")
);
--> statement-breakpoint
CREATE TABLE "locations" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"address" text,
	"city" text,
	"country_code" text,
	"latitude" double precision,
	"longitude" double precision,
	"timezone" text DEFAULT 'UTC' NOT NULL,
	CONSTRAINT "locations_on_the_globe" CHECK ("locations"."latitude" between -90 and 90 and "locations"."longitude" between -180 and 180),
	CONSTRAINT "locations_have_both_coordinates" CHECK (("locations"."latitude" is null) = ("locations"."longitude" is null))
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"currency" text NOT NULL,
	"platform_fee_percentage" numeric(7, 4) DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"request_hash" text NOT NULL,
	"payment_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" text PRIMARY KEY NOT NULL,
	"channel_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"ticket_rate_id" text NOT NULL,
	"status" "payment_status" DEFAULT 'pending' NOT NULL,
	"provider" text NOT NULL,
	"total_amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"conditions_changed" boolean DEFAULT false NOT NULL,
	"page_token" text NOT NULL,
	"redirect_url" text,
	"error_url" text,
	"send_resourcers" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"paid_at" timestamp (3) with time zone,
	CONSTRAINT "payments_not_negative" CHECK ("payments"."total_amount" >= 0)
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"id" text PRIMARY KEY NOT NULL,
	"ticket_rate_id" text NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"valid_until" timestamp (3) with time zone,
	"includes" text,
	"additional_info" text,
	"fee_type" "fee_type" DEFAULT 'percentage' NOT NULL,
	"fee_quantity" numeric(15, 4) DEFAULT 0 NOT NULL,
	"removed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "prices_not_negative" CHECK ("prices"."amount" >= 0 and "prices"."fee_quantity" >= 0)
);
--> statement-breakpoint
CREATE TABLE "questions" (
	"id" text PRIMARY KEY NOT NULL,
	"ticket_rate_id" text NOT NULL,
	"position" integer NOT NULL,
	"label" text NOT NULL,
	"type" text DEFAULT 'dropdown' NOT NULL,
	"required" boolean DEFAULT false NOT NULL,
	"items" text[] DEFAULT '{}' NOT NULL,
	"removed" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stock" (
	"id" text PRIMARY KEY NOT NULL,
	"capacity" integer,
	"sold_before" integer DEFAULT 0 NOT NULL,
	"sold" integer DEFAULT 0 NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "stock_never_negative" CHECK ("stock"."sold_before" >= 0 and "stock"."sold" >= 0 and "stock"."held" >= 0),
	CONSTRAINT "stock_never_oversold" CHECK ("stock"."capacity" is null or "stock"."sold_before" + "stock"."sold" + "stock"."held" <= "stock"."capacity")
);
--> statement-breakpoint
CREATE TABLE "supplements" (
	"id" text PRIMARY KEY NOT NULL,
	"ticket_rate_id" text NOT NULL,
	"position" integer NOT NULL,
	"label" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"has_fake_price" boolean DEFAULT false NOT NULL,
	"fake_amount" bigint,
	"removed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "supplements_not_negative" CHECK ("supplements"."amount" >= 0)
);
--> statement-breakpoint
CREATE TABLE "ticket_rates" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"event_id" text NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"valid_from" timestamp (3) with time zone,
	"complete" boolean DEFAULT false NOT NULL,
	"type" text DEFAULT 'limited' NOT NULL,
	"min" integer,
	"max" integer,
	"show_all_prices" boolean DEFAULT true NOT NULL,
	"warranty_enabled" boolean DEFAULT false NOT NULL,
	"warranty_percentage" numeric(7, 4) DEFAULT 0 NOT NULL,
	"warranty_hours" integer DEFAULT 0 NOT NULL,
	"removed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "ticket_rates_min_max" CHECK ("ticket_rates"."min" >= 1 and "ticket_rates"."max" >= 1 and "ticket_rates"."min" <= "ticket_rates"."max")
);
--> statement-breakpoint
CREATE TABLE "tickets" (
	"id" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"position" integer NOT NULL,
	"organization_id" text NOT NULL,
	"channel_id" text NOT NULL,
	"event_id" text NOT NULL,
	"ticket_rate_id" text NOT NULL,
	"price_id" text NOT NULL,
	"status" "ticket_status" DEFAULT 'held' NOT NULL,
	"qr_code" text NOT NULL,
	"currency" text NOT NULL,
	"price_amount" bigint NOT NULL,
	"supplements_amount" bigint NOT NULL,
	"organization_fee_amount" bigint NOT NULL,
	"platform_fee_amount" bigint NOT NULL,
	"warranty_amount" bigint NOT NULL,
	"total_amount" bigint NOT NULL,
	"refunded_amount" bigint DEFAULT 0 NOT NULL,
	"refunded_at" timestamp (3) with time zone,
	"refunds" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"warranty_hours" integer NOT NULL,
	"full_name" text NOT NULL,
	"email" text NOT NULL,
	"phone" text,
	"gender" text,
	"birthday" date,
	"address" text,
	"postal_code" text,
	"country_code" text,
	"personal_document_type" text,
	"personal_document_number" text,
	"answers" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"supplements" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"metadata" jsonb,
	"admits" integer DEFAULT 1 NOT NULL,
	"entered" integer DEFAULT 0 NOT NULL,
	"last_entry_at" timestamp (3) with time zone,
	"invoice_reference" text,
	"corrective_invoice_references" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"activated_at" timestamp (3) with time zone,
	CONSTRAINT "tickets_admit_no_more_than_they_may" CHECK ("tickets"."entered" between 0 and "tickets"."admits"),
	CONSTRAINT "tickets_refund_no_more_than_was_paid" CHECK ("tickets"."refunded_amount" between 0 and "tickets"."total_amount"),
	CONSTRAINT "tickets_total" CHECK ("tickets"."total_amount" = "tickets"."price_amount" + "tickets"."supplements_amount" + "tickets"."organization_fee_amount" + "tickets"."warranty_amount")
);
--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "integrations" ADD CONSTRAINT "integrations_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_location_id_locations_id_fk" FOREIGN KEY ("location_id") REFERENCES "public"."locations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "locations" ADD CONSTRAINT "locations_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_ticket_rate_id_ticket_rates_id_fk" FOREIGN KEY ("ticket_rate_id") REFERENCES "public"."ticket_rates"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "prices" ADD CONSTRAINT "prices_ticket_rate_id_ticket_rates_id_fk" FOREIGN KEY ("ticket_rate_id") REFERENCES "public"."ticket_rates"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "questions" ADD CONSTRAINT "questions_ticket_rate_id_ticket_rates_id_fk" FOREIGN KEY ("ticket_rate_id") REFERENCES "public"."ticket_rates"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "supplements" ADD CONSTRAINT "supplements_ticket_rate_id_ticket_rates_id_fk" FOREIGN KEY ("ticket_rate_id") REFERENCES "public"."ticket_rates"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ticket_rates" ADD CONSTRAINT "ticket_rates_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ticket_rates" ADD CONSTRAINT "ticket_rates_event_id_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."events"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_event_id_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."events"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_ticket_rate_id_ticket_rates_id_fk" FOREIGN KEY ("ticket_rate_id") REFERENCES "public"."ticket_rates"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_price_id_prices_id_fk" FOREIGN KEY ("price_id") REFERENCES "public"."prices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "keys_channel_id_index" ON "keys" USING btree ("channel_id");--> statement-breakpoint
CREATE INDEX "keys_integration_id_index" ON "keys" USING btree ("integration_id");--> statement-breakpoint
CREATE INDEX "events_start_date_id_index" ON "events" USING btree ("start_date","id");--> statement-breakpoint
CREATE INDEX "events_organization_id_start_date_id_index" ON "events" USING btree ("organization_id","start_date","id");--> statement-breakpoint
CREATE INDEX "events_location_id_start_date_id_index" ON "events" USING btree ("location_id","start_date","id");--> statement-breakpoint
CREATE INDEX "events_search_words_index" ON "events" USING gin ("search_words");--> statement-breakpoint
CREATE INDEX "locations_latitude_longitude_index" ON "locations" USING btree ("latitude","longitude");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at_index" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_page_token_index" ON "payments" USING btree ("page_token");--> statement-breakpoint
CREATE INDEX "payments_pending_expires_at" ON "payments" USING btree ("expires_at") WHERE "payments"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "payments_pending_ticket_rate" ON "payments" USING btree ("ticket_rate_id","expires_at") WHERE "payments"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "prices_ticket_rate_id_position_id_index" ON "prices" USING btree ("ticket_rate_id","position","id");--> statement-breakpoint
CREATE INDEX "questions_ticket_rate_id_position_id_index" ON "questions" USING btree ("ticket_rate_id","position","id");--> statement-breakpoint
CREATE INDEX "supplements_ticket_rate_id_position_id_index" ON "supplements" USING btree ("ticket_rate_id","position","id");--> statement-breakpoint
CREATE INDEX "ticket_rates_event_id_position_id_index" ON "ticket_rates" USING btree ("event_id","position","id");--> statement-breakpoint
CREATE INDEX "tickets_payment_id_position_index" ON "tickets" USING btree ("payment_id","position");--> statement-breakpoint
CREATE INDEX "tickets_ticket_rate_id_index" ON "tickets" USING btree ("ticket_rate_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tickets_qr_code_in_event" ON "tickets" USING btree ("event_id","qr_code") WHERE "tickets"."status" <> 'expired';