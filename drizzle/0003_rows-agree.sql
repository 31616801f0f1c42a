ALTER TABLE "payments" ADD CONSTRAINT "payments_shared_with_tickets" UNIQUE("id","organization_id","channel_id","ticket_rate_id");--> statement-breakpoint
ALTER TABLE "prices" ADD CONSTRAINT "prices_of_ticket_rates" UNIQUE("id","ticket_rate_id");--> statement-breakpoint
ALTER TABLE "ticket_rates" ADD CONSTRAINT "ticket_rates_of_organizations" UNIQUE("id","organization_id");--> statement-breakpoint
ALTER TABLE "ticket_rates" ADD CONSTRAINT "ticket_rates_of_events" UNIQUE("id","event_id");--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_of_the_organization_of_their_rate" FOREIGN KEY ("ticket_rate_id","organization_id") REFERENCES "public"."ticket_rates"("id","organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_of_their_payment" FOREIGN KEY ("payment_id","organization_id","channel_id","ticket_rate_id") REFERENCES "public"."payments"("id","organization_id","channel_id","ticket_rate_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_of_the_event_of_their_rate" FOREIGN KEY ("ticket_rate_id","event_id") REFERENCES "public"."ticket_rates"("id","event_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_at_a_price_of_their_rate" FOREIGN KEY ("price_id","ticket_rate_id") REFERENCES "public"."prices"("id","ticket_rate_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" DROP CONSTRAINT "payments_organization_id_organizations_id_fk";--> statement-breakpoint
ALTER TABLE "payments" DROP CONSTRAINT "payments_ticket_rate_id_ticket_rates_id_fk";--> statement-breakpoint
ALTER TABLE "tickets" DROP CONSTRAINT "tickets_payment_id_payments_id_fk";--> statement-breakpoint
ALTER TABLE "tickets" DROP CONSTRAINT "tickets_organization_id_organizations_id_fk";--> statement-breakpoint
ALTER TABLE "tickets" DROP CONSTRAINT "tickets_channel_id_channels_id_fk";--> statement-breakpoint
ALTER TABLE "tickets" DROP CONSTRAINT "tickets_event_id_events_id_fk";--> statement-breakpoint
ALTER TABLE "tickets" DROP CONSTRAINT "tickets_ticket_rate_id_ticket_rates_id_fk";--> statement-breakpoint
ALTER TABLE "tickets" DROP CONSTRAINT "tickets_price_id_prices_id_fk";