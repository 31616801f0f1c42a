CREATE TYPE "public"."redemption_result" AS ENUM('OK', 'USED_UP', 'NOT_BOUGHT', 'UNPAID', 'CANCELLED', 'UNKNOWN');
--> statement-breakpoint
CREATE TYPE "public"."delivery_kind" AS ENUM('tickets', 'transfer_notice');
--> statement-breakpoint
CREATE TYPE "public"."payment_method" AS ENUM('CASH', 'CARD', 'OTHER');
--> statement-breakpoint
CREATE TYPE "public"."sale_type" AS ENUM('online', 'box_office', 'invitation');
--> statement-breakpoint
ALTER TYPE "public"."change_type" ADD VALUE 'ticket.updated' BEFORE 'rate.sold_out';
--> statement-breakpoint
ALTER TYPE "public"."change_type" ADD VALUE 'ticket.transferred' BEFORE 'rate.sold_out';
--> statement-breakpoint
ALTER TYPE "public"."change_type" ADD VALUE 'ticket.supplement_redeemed' BEFORE 'rate.sold_out';
--> statement-breakpoint
CREATE TABLE "redemptions" (
	"organization_id" text NOT NULL,
	"integration_id" text NOT NULL,
	"nonce" text NOT NULL,
	"request_hash" text NOT NULL,
	"ticket_id" text,
	"supplement_id" text NOT NULL,
	"result" "redemption_result" NOT NULL,
	"redeemed" integer NOT NULL,
	"left" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "redemptions_organization_id_integration_id_nonce_pk" PRIMARY KEY("organization_id","integration_id","nonce"),
	CONSTRAINT "redemptions_not_negative" CHECK ("redemptions"."redeemed" >= 0 and "redemptions"."left" >= 0)
);
--> statement-breakpoint
CREATE TABLE "discounts" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"position" integer NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"percentage" numeric(7, 4),
	"amount" bigint,
	"currency" text NOT NULL,
	"ticket_rate_ids" text[] DEFAULT '{}' NOT NULL,
	"valid_from" timestamp (3) with time zone,
	"valid_until" timestamp (3) with time zone,
	"max_per_checkout" integer,
	"removed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "discounts_take_one_kind_off" CHECK (num_nonnulls("discounts"."percentage", "discounts"."amount") = 1),
	CONSTRAINT "discounts_not_negative" CHECK ("discounts"."percentage" between 0 and 100 and "discounts"."amount" >= 0 and "discounts"."max_per_checkout" >= 1)
);
--> statement-breakpoint
CREATE TABLE "retired_documents" (
	"organization_id" text NOT NULL,
	"token" text NOT NULL,
	"ticket_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "retired_documents_organization_id_token_pk" PRIMARY KEY("organization_id","token")
);
--> statement-breakpoint
ALTER TABLE "check_ins" ADD COLUMN "people" integer DEFAULT 1 NOT NULL;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "kind" "delivery_kind" DEFAULT 'tickets' NOT NULL;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "ticket_id" text;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "occasion" text DEFAULT '' NOT NULL;
--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "language" text DEFAULT 'en' NOT NULL;
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "language" text;
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "method" "payment_method";
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "method_reference" text;
--> statement-breakpoint
ALTER TABLE "supplements" ADD COLUMN "description" text;
--> statement-breakpoint
ALTER TABLE "supplements" ADD COLUMN "product_quantity" integer DEFAULT 1 NOT NULL;
--> statement-breakpoint
ALTER TABLE "ticket_rates" ADD COLUMN "admits" integer DEFAULT 1 NOT NULL;
--> statement-breakpoint
ALTER TABLE "ticket_rates" ADD COLUMN "transferable" boolean DEFAULT true NOT NULL;
--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "sale_type" "sale_type" DEFAULT 'online' NOT NULL;
--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "discount_id" text;
--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "discount_amount" bigint DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "language" text;
--> statement-breakpoint
ALTER TABLE "tickets" ADD COLUMN "referral_id" text;
--> statement-breakpoint
ALTER TABLE "redemptions" ADD CONSTRAINT "redemptions_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "redemptions" ADD CONSTRAINT "redemptions_ticket_id_tickets_id_fk" FOREIGN KEY ("ticket_id") REFERENCES "public"."tickets"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "discounts" ADD CONSTRAINT "discounts_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "retired_documents" ADD CONSTRAINT "retired_documents_ticket_id_tickets_id_fk" FOREIGN KEY ("ticket_id") REFERENCES "public"."tickets"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "redemptions_ticket_id_created_at_index" ON "redemptions" USING btree ("ticket_id","created_at");
--> statement-breakpoint
CREATE INDEX "discounts_code" ON "discounts" USING btree ("organization_id",lower("code"));
--> statement-breakpoint
CREATE INDEX "retired_documents_token_index" ON "retired_documents" USING btree ("token");
--> statement-breakpoint
-- Each organization sells at its door, and gives tickets away, through a channel of its own.
INSERT INTO "channels" ("id", "name") SELECT "id", "name" FROM "organizations" ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- The type of a rate follows from its capacity, and a question that was no dropdown took free text.
UPDATE "ticket_rates" SET "type" = CASE WHEN "capacity" IS NULL THEN 'unlimited' ELSE 'limited' END
FROM "stock" WHERE "stock"."id" = "ticket_rates"."id"
	AND "type" <> CASE WHEN "capacity" IS NULL THEN 'unlimited' ELSE 'limited' END;
--> statement-breakpoint
UPDATE "questions" SET "type" = 'text' WHERE "type" NOT IN ('dropdown', 'text', 'checkbox');
