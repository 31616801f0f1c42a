-- migrate: no transaction
-- Constraints are validated, and indexes built, while tickets are sold.
ALTER TABLE "deliveries"
	DROP CONSTRAINT IF EXISTS "deliveries_ticket_id_tickets_id_fk",
	ADD CONSTRAINT "deliveries_ticket_id_tickets_id_fk" FOREIGN KEY ("ticket_id") REFERENCES "public"."tickets"("id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "deliveries" VALIDATE CONSTRAINT "deliveries_ticket_id_tickets_id_fk";
--> statement-breakpoint
ALTER TABLE "tickets"
	DROP CONSTRAINT IF EXISTS "tickets_discount_id_discounts_id_fk",
	ADD CONSTRAINT "tickets_discount_id_discounts_id_fk" FOREIGN KEY ("discount_id") REFERENCES "public"."discounts"("id") NOT VALID;
--> statement-breakpoint
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_discount_id_discounts_id_fk";
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "deliveries_once_per_occasion" ON "deliveries" USING btree ("payment_id","medium","recipient","occasion");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deliveries_of_ticket" ON "deliveries" USING btree ("ticket_id","created_at") WHERE "deliveries"."ticket_id" is not null;
--> statement-breakpoint
ALTER TABLE "supplements"
	DROP CONSTRAINT IF EXISTS "supplements_not_negative",
	ADD CONSTRAINT "supplements_not_negative" CHECK ("supplements"."amount" >= 0 and "supplements"."product_quantity" >= 1) NOT VALID;
--> statement-breakpoint
ALTER TABLE "supplements" VALIDATE CONSTRAINT "supplements_not_negative";
--> statement-breakpoint
ALTER TABLE "ticket_rates"
	DROP CONSTRAINT IF EXISTS "ticket_rates_admit_somebody",
	ADD CONSTRAINT "ticket_rates_admit_somebody" CHECK ("ticket_rates"."admits" >= 1) NOT VALID;
--> statement-breakpoint
ALTER TABLE "ticket_rates" VALIDATE CONSTRAINT "ticket_rates_admit_somebody";
--> statement-breakpoint
ALTER TABLE "tickets"
	DROP CONSTRAINT IF EXISTS "tickets_discount_no_more_than_the_price",
	ADD CONSTRAINT "tickets_discount_no_more_than_the_price" CHECK ("tickets"."discount_amount" between 0 and "tickets"."price_amount") NOT VALID;
--> statement-breakpoint
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_discount_no_more_than_the_price";
--> statement-breakpoint
ALTER TABLE "tickets"
	DROP CONSTRAINT IF EXISTS "tickets_redeem_no_more_than_was_bought",
	ADD CONSTRAINT "tickets_redeem_no_more_than_was_bought" CHECK (not jsonb_path_exists("tickets"."supplements", '$[*] ? (@.used > @.productQuantity)')) NOT VALID;
--> statement-breakpoint
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_redeem_no_more_than_was_bought";
--> statement-breakpoint
ALTER TABLE "tickets"
	DROP CONSTRAINT IF EXISTS "tickets_total",
	ADD CONSTRAINT "tickets_total" CHECK ("tickets"."total_amount" = "tickets"."price_amount" - "tickets"."discount_amount" + "tickets"."supplements_amount" + "tickets"."organization_fee_amount" + "tickets"."warranty_amount") NOT VALID;
--> statement-breakpoint
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_total";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "deliveries_once";
