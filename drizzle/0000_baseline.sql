-- The database of Boxoffice, from the bottom up. `src/**/table.ts` says the same to TypeScript, where each column is
-- described; a test compares the two. A further migration changes it by the rules in docs/operations.md.
--
-- What belongs to an organization has it in its primary key, in unique indexes and in foreign keys, so that a database
-- can be spread over servers by it. Amounts are integers in the minor units of their currency. Times are those of the
-- database, in milliseconds.

-- Keys and grants: who calls

-- Organizations that sell tickets, each in one currency.
create table organizations (
  id text primary key,
  number integer generated always as identity constraint organizations_number_unique unique,
  name text not null,
  slug text not null,
  currency text not null,
  decimals integer not null,
  language text default 'en' not null,
  platform_fee_percentage numeric(7, 4) default 0 not null
);

-- Clients that sell tickets for the organizations that granted them.
create table channels (
  id text primary key,
  name text not null,
  revision uuid default gen_random_uuid() not null,
  created_at timestamptz(3) default now() not null
);

-- Organizations that ever granted a channel. A row outlives its grant, because the channel still receives changes of
-- what it sold for that organization.
create table channel_organizations (
  channel_id text not null,
  organization_id text not null,
  number integer generated always as identity,
  constraint channel_organizations_channel_id_organization_id_pk primary key (channel_id, organization_id),
  constraint channel_organizations_channel_id_channels_id_fk foreign key (channel_id) references channels (id),
  constraint channel_organizations_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);
create unique index channel_organizations_number on channel_organizations (number);
create index channels_of_organization on channel_organizations (organization_id, channel_id);

-- Organizations that a channel may sell for now.
create table grants (
  channel_id text not null,
  organization_id text not null,
  created_at timestamptz(3) default now() not null,
  constraint grants_channel_id_organization_id_pk primary key (channel_id, organization_id),
  constraint grants_channel_id_channels_id_fk foreign key (channel_id) references channels (id),
  constraint grants_organization_id_organizations_id_fk foreign key (organization_id) references organizations (id),
  constraint grants_are_remembered foreign key (channel_id, organization_id)
    references channel_organizations (channel_id, organization_id)
);

-- Clients that read one organization's tickets.
create table integrations (
  id text primary key,
  organization_id text not null,
  name text not null,
  secret_hash text,
  created_at timestamptz(3) default now() not null,
  revoked_at timestamptz(3),
  constraint integrations_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);
create index integrations_organization_id_index on integrations (organization_id);

-- Secrets of method v1 that an organization has, good with each of its integrations that is not revoked. It may have
-- several, so that rotation needs no downtime.
create table organization_secrets (
  id text primary key,
  organization_id text not null,
  hash text not null,
  created_at timestamptz(3) default now() not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint organization_secrets_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);
create index organization_secrets_organization_id_index on organization_secrets (organization_id);

create type key_mode as enum ('live', 'test');
-- API keys (method v2). An owner may have several, so that rotation needs no downtime.
create table keys (
  id text primary key,
  mode key_mode not null,
  channel_id text,
  integration_id text,
  origins text[],
  scopes text[],
  hash text not null,
  created_at timestamptz(3) default now() not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint keys_have_one_owner check (num_nonnulls(channel_id, integration_id) = 1),
  constraint keys_are_limited_by_their_kind
    check ((origins is null or channel_id is not null) and (scopes is null or integration_id is not null)),
  constraint keys_channel_id_channels_id_fk foreign key (channel_id) references channels (id),
  constraint keys_integration_id_integrations_id_fk foreign key (integration_id) references integrations (id)
);
create index keys_channel_id_index on keys (channel_id);
create index keys_integration_id_index on keys (integration_id);

-- Catalogue: what an import writes

-- Places of events, with the time zone that their days are counted in.
create table locations (
  id text primary key,
  organization_id text not null,
  name text not null,
  address text,
  city text,
  country_code text,
  latitude double precision,
  longitude double precision,
  timezone text default 'UTC' not null,
  constraint locations_on_the_globe check (latitude between -90 and 90 and longitude between -180 and 180),
  constraint locations_have_both_coordinates check ((latitude is null) = (longitude is null)),
  constraint locations_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);
create index locations_latitude_longitude_index on locations (latitude, longitude);
create index locations_city on locations ((regexp_replace(lower(normalize(city::text, NFKD)), '[\u0300-\u036f]', '', 'g')));
create index locations_country on locations (country_code);

-- Events that tickets are sold for.
create table events (
  id text primary key,
  organization_id text not null,
  location_id text,
  name text not null,
  slug text not null,
  description text,
  age text,
  minimum_age integer,
  outfit text,
  ambiences text[] default '{}' not null,
  music_genres text[] default '{}' not null,
  artists jsonb default '[]' not null,
  display_date timestamptz(3),
  start_date timestamptz(3) not null,
  end_date timestamptz(3) not null,
  image_url text,
  iframe_tag_url text,
  iframe_script_url text,
  search_words tsvector not null,
  revision uuid default gen_random_uuid() not null,
  calendar_sequence integer default 0 not null,
  scan_salt text,
  moved_from jsonb,
  constraint events_end_after_they_start check (end_date >= start_date),
  constraint events_organization_id_organizations_id_fk foreign key (organization_id) references organizations (id),
  constraint events_location_id_locations_id_fk foreign key (location_id) references locations (id)
);
create index events_start_date_id_index on events (start_date, id);
create index events_organization_id_start_date_id_index on events (organization_id, start_date, id);
create index events_slug on events (organization_id, slug, start_date, id);
create index events_location_id_start_date_id_index on events (location_id, start_date, id);
create index events_search_words_index on events using gin (search_words) with (fastupdate=false);
create index events_moved on events (id) where moved_from is not null;
create index events_long on events (organization_id, end_date) where extract(epoch from (end_date - start_date)) > 604800;

-- Ticket rates of events, with the rules of their sale. Those that a catalogue removes stay, because sold tickets
-- refer to them; so do prices, supplements and questions.
create table ticket_rates (
  id text primary key,
  organization_id text not null,
  event_id text not null,
  "position" integer not null,
  name text not null,
  slug text not null,
  valid_from timestamptz(3),
  complete boolean default false not null,
  type text default 'limited' not null,
  min integer,
  max integer,
  show_all_prices boolean default true not null,
  warranty_enabled boolean default false not null,
  warranty_percentage numeric(7, 4) default 0 not null,
  warranty_hours integer default 0 not null,
  admits integer default 1 not null,
  transferable boolean default true not null,
  removed boolean default false not null,
  constraint ticket_rates_of_events unique (id, event_id, organization_id),
  constraint ticket_rates_admit_somebody check (admits >= 1),
  constraint ticket_rates_min_max check (min >= 1 and max >= 1 and min <= max),
  constraint ticket_rates_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id),
  constraint ticket_rates_event_id_events_id_fk foreign key (event_id) references events (id)
);
create index ticket_rates_event_id_position_id_index on ticket_rates (event_id, "position", id);

create type fee_type as enum ('percentage', 'fixed');
-- Prices of rates, each valid until a time, or until its places are sold.
create table prices (
  id text primary key,
  ticket_rate_id text not null,
  "position" integer not null,
  removed boolean default false not null,
  name text not null,
  amount bigint not null,
  currency text not null,
  valid_until timestamptz(3),
  includes text,
  additional_info text,
  fee_type fee_type default 'percentage' not null,
  fee_quantity numeric(15, 4) default 0 not null,
  constraint prices_of_ticket_rates unique (id, ticket_rate_id),
  constraint prices_not_negative check (amount >= 0 and fee_quantity >= 0),
  constraint prices_ticket_rate_id_ticket_rates_id_fk foreign key (ticket_rate_id) references ticket_rates (id)
);
create index prices_listed on prices (ticket_rate_id, removed, "position", id);

-- Things that are sold along with a ticket, such as a drink.
create table supplements (
  id text primary key,
  ticket_rate_id text not null,
  "position" integer not null,
  removed boolean default false not null,
  label text not null,
  description text,
  product_quantity integer default 1 not null,
  amount bigint not null,
  currency text not null,
  has_fake_price boolean default false not null,
  fake_amount bigint,
  constraint supplements_not_negative check (amount >= 0 and product_quantity >= 1),
  constraint supplements_ticket_rate_id_ticket_rates_id_fk foreign key (ticket_rate_id) references ticket_rates (id)
);
create index supplements_listed on supplements (ticket_rate_id, removed, "position", id);

-- Questions that each attendee is asked.
create table questions (
  id text primary key,
  ticket_rate_id text not null,
  "position" integer not null,
  removed boolean default false not null,
  label text not null,
  type text default 'dropdown' not null,
  required boolean default false not null,
  options jsonb default '[]' not null,
  constraint questions_ticket_rate_id_ticket_rates_id_fk foreign key (ticket_rate_id) references ticket_rates (id)
);
create index questions_listed on questions (ticket_rate_id, removed, "position", id);

-- Discounts that a checkout can claim by their code. Their uses are counted in `stock`, under the same `id`.
create table discounts (
  id text primary key,
  organization_id text not null,
  "position" integer not null,
  code text not null,
  name text not null,
  percentage numeric(7, 4),
  amount bigint,
  currency text not null,
  ticket_rate_ids text[] default '{}' not null,
  valid_from timestamptz(3),
  valid_until timestamptz(3),
  max_per_checkout integer,
  removed boolean default false not null,
  constraint discounts_take_one_kind_off check (num_nonnulls(percentage, amount) = 1),
  constraint discounts_not_negative check (percentage between 0 and 100 and amount >= 0 and max_per_checkout >= 1),
  constraint discounts_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);
create index discounts_listed on discounts (organization_id, position, id) where not removed;
create index discounts_code on discounts (organization_id, lower(code));

-- Stock: what sales count

create type stock_kind as enum ('rate', 'price', 'discount');
-- Stock counters of a ticket rate, a price or a discount, in each mode. Separate from the catalogue rows, so that
-- sales never write to rows that the listing of events reads.
create table stock (
  organization_id text not null,
  kind stock_kind not null,
  id text not null,
  mode key_mode default 'live' not null,
  capacity integer,
  sold_before integer default 0 not null,
  sold integer default 0 not null,
  held integer default 0 not null,
  constraint stock_id_mode_kind_organization_id_pk primary key (id, mode, kind, organization_id),
  constraint stock_never_negative check (sold_before >= 0 and sold >= 0 and held >= 0),
  constraint stock_never_oversold check (capacity is null or sold_before + sold + held <= capacity)
);

-- Payments

create type payment_status as enum (
  'pending', 'processing', 'paid', 'failed', 'expired', 'cancelled', 'partially_refunded', 'refunded'
);
create type payment_method as enum ('CASH', 'CARD', 'OTHER');
-- Payments of checkouts, whose rates their tickets name. An unpaid one holds stock until `expiresAt`.
create table payments (
  id text not null,
  channel_id text not null,
  organization_id text not null,
  status payment_status default 'pending' not null,
  provider text not null,
  mode key_mode default 'live' not null,
  total_amount bigint not null,
  currency text not null,
  conditions_changed boolean default false not null,
  page_token text not null,
  redirect_url text,
  error_url text,
  send_tickets boolean default false not null,
  language text,
  method payment_method,
  method_reference text,
  refunded_amount bigint default 0 not null,
  invoice_reference text,
  session_id text,
  session_url text,
  session_open boolean default false not null,
  session_asked_at timestamptz(3),
  created_at timestamptz(3) default now() not null,
  expires_at timestamptz(3) not null,
  paid_at timestamptz(3),
  constraint payments_id_organization_id_pk primary key (id, organization_id),
  constraint payments_shared_with_tickets unique (id, organization_id, channel_id),
  constraint payments_not_negative check (total_amount >= 0),
  constraint payments_refund_no_more_than_was_paid check (refunded_amount between 0 and total_amount),
  constraint payments_channel_id_channels_id_fk foreign key (channel_id) references channels (id),
  constraint payments_organization_id_organizations_id_fk foreign key (organization_id) references organizations (id)
);
-- Room for new versions of rows beside the old ones: payments that come together are paid in one transaction, until
-- whose end a page holds both. Measured with 20 at a time (test/postgres/hot-updates.test.ts), updates of payments and
-- tickets that wrote no index: 80 and 77 % with 100, 89 and 90 % with 85, 96 and 92 % with 75, 100 and 94 % with 60.
-- Dead rows and new ones wait for a fifth of a table by default, which is months of sales where millions are sold.
alter table payments set (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- Idempotency keys of completed checkouts and of tickets sent again, valid for 24 hours (DECISIONS, checkout; DECISIONS, holders).
create table idempotency_keys (
  organization_id text not null,
  id text not null,
  request_hash text not null,
  payment_id text not null,
  created_at timestamptz(3) default now() not null,
  constraint idempotency_keys_id_organization_id_pk primary key (id, organization_id),
  constraint idempotency_keys_of_payments foreign key (organization_id, payment_id)
    references payments (organization_id, id)
);
create index idempotency_keys_created_at_index on idempotency_keys (created_at);
create index idempotency_keys_payment_id_index on idempotency_keys (payment_id);

-- Charges that a provider has made for payments: normally one each. Further ones are refunded.
create table charges (
  organization_id text not null,
  id text not null,
  payment_id text not null,
  provider text not null,
  reference text not null,
  amount bigint not null,
  currency text not null,
  created_at timestamptz(3) default now() not null,
  constraint charges_id_organization_id_pk primary key (id, organization_id),
  constraint charges_positive check (amount > 0),
  constraint charges_of_payments foreign key (organization_id, payment_id) references payments (organization_id, id)
);
create unique index charges_reference_of_organization on charges (provider, reference, organization_id);
create index charges_payment_id_index on charges (payment_id);

-- Inbox of provider events. Each is inserted in the transaction that applies it, so that it is applied once.
create table provider_events (
  organization_id text not null,
  provider text not null,
  id text not null,
  type text not null,
  payment_id text,
  created_at timestamptz(3) default now() not null,
  constraint provider_events_provider_id_organization_id_pk primary key (provider, id, organization_id),
  constraint provider_events_of_payments foreign key (organization_id, payment_id)
    references payments (organization_id, id)
);
create index provider_events_organization_id_created_at_index on provider_events (organization_id, created_at);
create index provider_events_payment on provider_events (payment_id) where payment_id is not null;

-- Unpaid payments by the end of their holds, a row for each price that they hold places at: a queue for those who look
-- for overdue ones, so that no index of payments changes when one is paid. A row is a hint, and the payment decides. It is
-- inserted with its payment, moved with the end of its hold, and deleted by the statement that pays or ends it.
create table expiries (
  organization_id text not null,
  price_id text not null,
  mode key_mode default 'live' not null,
  payment_id text not null,
  expires_at timestamptz(3) not null,
  discount_id text,
  constraint expiries_pk primary key (price_id, mode, expires_at, payment_id, organization_id)
);
-- Queues: as many rows die as are inserted, and their readers begin at the end where the dead ones are. A fixed number,
-- because few are alive.
alter table expiries set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index expiries_expires_at_index on expiries (expires_at);
create index expiries_with_discount on expiries (discount_id, mode, expires_at) where discount_id is not null;

-- Provider sessions that may still lead to a charge: a queue for the job that closes them. A row is inserted with its
-- session and deleted when the session has ended; `session_open` of the payment decides. No two payments have the
-- same session.
create table open_sessions (
  organization_id text not null,
  provider text not null,
  session_id text not null,
  payment_id text not null,
  attempts integer default 0 not null,
  due_at timestamptz(3) default now() not null,
  last_error text,
  constraint open_sessions_session_id_provider_organization_id_pk primary key (session_id, provider, organization_id)
);
alter table open_sessions set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
create index open_sessions_provider_due_at_index on open_sessions (provider, due_at);
create index open_sessions_failing on open_sessions (provider) where attempts >= 3;

-- Tickets

create type ticket_status as enum ('held', 'active', 'cancelled', 'expired');
create type sale_type as enum ('online', 'box_office', 'invitation');
-- Tickets that are held or were sold, with what they cost, whom they admit, and who is inside.
create table tickets (
  id text not null,
  payment_id text not null,
  "position" integer not null,
  organization_id text not null,
  channel_id text not null,
  event_id text not null,
  ticket_rate_id text not null,
  price_id text not null,
  status ticket_status default 'held' not null,
  ended ticket_status generated always as (case when status in ('cancelled', 'expired') then status end) stored,
  sale_type sale_type default 'online' not null,
  mode key_mode default 'live' not null,
  qr_code text not null,
  currency text not null,
  price_amount bigint not null,
  discount_id text,
  discount_amount bigint default 0 not null,
  supplements_amount bigint not null,
  organization_fee_amount bigint not null,
  platform_fee_amount bigint not null,
  warranty_amount bigint not null,
  total_amount bigint not null,
  refunded_amount bigint default 0 not null,
  refunded_at timestamptz(3),
  refunds jsonb default '[]' not null,
  warranty_hours integer not null,
  full_name text not null,
  search_name text default '' not null,
  email text not null,
  phone text,
  gender text,
  birthday date,
  address text,
  postal_code text,
  country_code text,
  personal_document_type text,
  personal_document_number text,
  answers jsonb default '[]' not null,
  supplements jsonb default '[]' not null,
  language text,
  referral_id text,
  metadata jsonb,
  admits integer default 1 not null,
  entered integer default 0 not null,
  peak_attendance integer default 0 not null,
  last_entry_at timestamptz(3),
  first_entry_at timestamptz(3),
  document_token text not null,
  cancelled_at timestamptz(3),
  invoice_reference text,
  corrective_invoice_references text[] default '{}' not null,
  created_at timestamptz(3) default now() not null,
  activated_at timestamptz(3),
  sold_on date,
  updated_at timestamptz(3) default now() not null,
  constraint tickets_id_organization_id_pk primary key (id, organization_id),
  constraint tickets_admit_no_more_than_they_may check (entered between 0 and admits),
  constraint tickets_refund_no_more_than_was_paid check (refunded_amount between 0 and total_amount),
  constraint tickets_discount_no_more_than_the_price check (discount_amount between 0 and price_amount),
  constraint tickets_redeem_no_more_than_was_bought
    check (not jsonb_path_exists(supplements, '$[*] ? (@.used > @.productQuantity)')),
  constraint tickets_total
    check (total_amount = price_amount - discount_amount + supplements_amount + organization_fee_amount + warranty_amount),
  constraint tickets_discount_id_discounts_id_fk foreign key (discount_id) references discounts (id),
  constraint tickets_of_their_payment foreign key (payment_id, organization_id, channel_id)
    references payments (id, organization_id, channel_id),
  constraint tickets_of_the_event_of_their_rate foreign key (ticket_rate_id, event_id, organization_id)
    references ticket_rates (id, event_id, organization_id),
  constraint tickets_at_a_price_of_their_rate foreign key (price_id, ticket_rate_id)
    references prices (id, ticket_rate_id)
);
alter table tickets set (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
create index tickets_payment_id_position_index on tickets (payment_id, "position");
create index tickets_created on tickets (('created ' || organization_id || ' ' || channel_id), mode, created_at);
create index tickets_name on tickets (('name ' || organization_id || ' ' || channel_id), mode, search_name collate "C", id);
create index tickets_phone on tickets (('phone ' || organization_id || ' ' || channel_id), mode, phone collate "C", id)
  where phone is not null;
create index tickets_ended_created on tickets (ended, organization_id, mode, channel_id, created_at)
  where ended is not null;
create index tickets_rate_created on tickets (ticket_rate_id, mode, channel_id, created_at);
create index tickets_event_created on tickets (event_id, mode, channel_id, created_at);
create index tickets_email_created on tickets (lower(email), organization_id, mode, channel_id, created_at);
create index tickets_referral_created on tickets (referral_id, organization_id, mode, channel_id, created_at)
  where referral_id is not null;
create unique index tickets_code_of_event on tickets (qr_code, event_id, mode, organization_id)
  where ended is distinct from 'expired';

-- Document tokens of tickets that were given to another person. Their URLs are answered 410.
create table retired_documents (
  organization_id text not null,
  token text not null,
  ticket_id text not null,
  created_at timestamptz(3) default now() not null,
  constraint retired_documents_token_organization_id_pk primary key (token, organization_id),
  constraint retired_documents_of_tickets foreign key (organization_id, ticket_id)
    references tickets (organization_id, id)
);
create index retired_documents_ticket_id_index on retired_documents (ticket_id);

-- Refunds and invoices

create type refund_reason as enum (
  'REQUESTED', 'WARRANTY', 'AT_PROVIDER', 'LATE_NO_CAPACITY', 'PAID_AFTER_CANCELLATION', 'PAID_TWICE', 'AMOUNT_MISMATCH'
);
create type refund_status as enum ('pending', 'succeeded', 'failed');
-- Refunds, pending, succeeded or failed. A pending one is a job of `processDueRefunds`.
create table refunds (
  id text not null,
  payment_id text not null,
  charge_id text not null,
  ticket_id text,
  organization_id text not null,
  channel_id text not null,
  mode key_mode default 'live' not null,
  reason refund_reason not null,
  status refund_status default 'pending' not null,
  amount bigint not null,
  currency text not null,
  idempotency_key text,
  request_hash text,
  reference text,
  attempts integer default 0 not null,
  due_at timestamptz(3) default now() not null,
  last_error text,
  created_at timestamptz(3) default now() not null,
  succeeded_at timestamptz(3),
  constraint refunds_id_organization_id_pk primary key (id, organization_id),
  constraint refunds_positive check (amount > 0),
  constraint refunds_organization_id_organizations_id_fk foreign key (organization_id) references organizations (id),
  constraint refunds_channel_id_channels_id_fk foreign key (channel_id) references channels (id),
  constraint refunds_of_payments foreign key (organization_id, payment_id) references payments (organization_id, id),
  constraint refunds_of_charges foreign key (organization_id, charge_id) references charges (organization_id, id),
  constraint refunds_of_tickets foreign key (organization_id, ticket_id) references tickets (organization_id, id)
);
create index refunds_payment_id_index on refunds (payment_id);
create index refunds_ticket_id_index on refunds (ticket_id);
create unique index refunds_idempotency_key_of_organization on refunds (idempotency_key, organization_id);
create index refunds_due on refunds (organization_id, due_at) where status = 'pending';
create index refunds_failing on refunds (due_at) where status = 'pending' and attempts >= 3;
create index refunds_failed on refunds (created_at) where status = 'failed';

create type invoice_kind as enum ('invoice', 'corrective', 'test_invoice', 'test_corrective');
-- Invoices: one per paid checkout, and a corrective one per refund of a ticket.
create table invoices (
  id text not null,
  organization_id text not null,
  kind invoice_kind not null,
  year integer not null,
  number integer not null,
  reference text not null,
  payment_id text not null,
  refund_id text,
  amount bigint not null,
  currency text not null,
  created_at timestamptz(3) default now() not null,
  constraint invoices_id_organization_id_pk primary key (id, organization_id),
  constraint invoices_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id),
  constraint invoices_of_payments foreign key (organization_id, payment_id)
    references payments (organization_id, id),
  constraint invoices_of_refunds foreign key (organization_id, refund_id) references refunds (organization_id, id)
);
create unique index invoices_in_series on invoices (organization_id, kind, year, number);
create unique index invoices_once_per_refund on invoices (refund_id, organization_id);
create index invoices_payment_id_index on invoices (payment_id);

-- Series of an organization's invoices, one per kind and year, with the last number issued.
create table invoice_series (
  organization_id text not null,
  kind invoice_kind not null,
  year integer not null,
  last integer not null,
  constraint invoice_series_organization_id_kind_year_pk primary key (organization_id, kind, year),
  constraint invoice_series_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);

-- The door

create type check_in_direction as enum ('in', 'out');
create type check_in_outcome as enum (
  'OK', 'NO_ENTRIES_LEFT', 'NOT_INSIDE', 'UNPAID', 'CANCELLED', 'WRONG_EVENT', 'TOO_EARLY', 'NOT_FOUND'
);
-- Scans at the door and their outcomes, kept so that a repeated key returns the first one.
create table check_ins (
  id text not null,
  organization_id text not null,
  integration_id text not null,
  idempotency_key text not null,
  request_hash text not null,
  ticket_id text,
  mode key_mode default 'live' not null,
  event_id text not null,
  direction check_in_direction not null,
  forced boolean not null,
  people integer default 1 not null,
  outcome check_in_outcome not null,
  scanned_at timestamptz(3) not null,
  first_entered_at timestamptz(3),
  inside integer,
  admits integer,
  is_early boolean default false not null,
  created_at timestamptz(3) default now() not null,
  constraint check_ins_id_organization_id_pk primary key (id, organization_id),
  constraint check_ins_once unique (integration_id, idempotency_key, organization_id),
  constraint check_ins_integration_id_integrations_id_fk foreign key (integration_id) references integrations (id),
  constraint check_ins_of_tickets foreign key (organization_id, ticket_id) references tickets (organization_id, id)
);
create index check_ins_ticket_id_created_at_id_index on check_ins (ticket_id, created_at, id);
create index check_ins_of_event on check_ins (event_id, mode, created_at, id);
create index check_ins_organization_id_created_at_index on check_ins (organization_id, created_at);

create type redemption_outcome as enum (
  'OK', 'USED_UP', 'NOT_BOUGHT', 'WRONG_EVENT', 'UNPAID', 'CANCELLED', 'NOT_FOUND'
);
-- Supplements handed out at the bar, kept so that a repeated key returns the first one.
create table redemptions (
  organization_id text not null,
  integration_id text not null,
  idempotency_key text not null,
  request_hash text not null,
  ticket_id text,
  supplement_id text not null,
  outcome redemption_outcome not null,
  redeemed integer not null,
  "left" integer not null,
  created_at timestamptz(3) default now() not null,
  constraint redemptions_organization_id_integration_id_idempotency_key_pk primary key (organization_id, integration_id, idempotency_key),
  constraint redemptions_not_negative check (redeemed >= 0 and "left" >= 0),
  constraint redemptions_integration_id_integrations_id_fk foreign key (integration_id) references integrations (id),
  constraint redemptions_of_tickets foreign key (organization_id, ticket_id)
    references tickets (organization_id, id)
);
create index redemptions_ticket_id_created_at_index on redemptions (ticket_id, created_at);

-- Mails and messages

create type delivery_medium as enum ('email', 'whatsapp');
create type delivery_status as enum ('pending', 'sent', 'skipped', 'dead');
-- Job queue: tickets of one payment, or a notice about them, to be sent to one recipient.
create table deliveries (
  organization_id text not null,
  id text not null,
  payment_id text not null,
  notice jsonb,
  ticket_id text,
  occasion text default '' not null,
  medium delivery_medium not null,
  recipient text not null,
  status delivery_status default 'pending' not null,
  attempts integer default 0 not null,
  due_at timestamptz(3) default now() not null,
  last_error text,
  created_at timestamptz(3) default now() not null,
  sent_at timestamptz(3),
  constraint deliveries_id_organization_id_pk primary key (id, organization_id),
  constraint deliveries_of_payments foreign key (organization_id, payment_id)
    references payments (organization_id, id),
  constraint deliveries_of_tickets foreign key (organization_id, ticket_id) references tickets (organization_id, id)
);
create unique index deliveries_once on deliveries (payment_id, medium, recipient, occasion, organization_id);
create index deliveries_of_ticket on deliveries (ticket_id, created_at) where ticket_id is not null;
create index deliveries_recipient on deliveries (lower(recipient));
create index deliveries_bounded on deliveries (organization_id, sent_at) where occasion <> '';
create index deliveries_due on deliveries (organization_id, (occasion <> ''), due_at) where status = 'pending';
create index deliveries_failing on deliveries (due_at) where status = 'pending' and attempts >= 3;
create index deliveries_dead on deliveries (created_at) where status = 'dead';

-- Changes and webhooks

-- Last position assigned in each organization's feed. The row is inserted on first use, and locked while positions
-- are assigned.
create table change_feeds (
  organization_id text primary key,
  last_position bigint default 0 not null,
  constraint change_feeds_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);

create type change_type as enum (
  'payment.paid', 'payment.failed', 'payment.expired', 'payment.refunded', 'ticket.activated',
  'ticket.cancelled', 'ticket.entered', 'ticket.updated', 'ticket.transferred', 'ticket.supplement_redeemed',
  'rate.sold_out', 'rate.available'
);
-- Outbox: changes, written in the transaction that makes them. Contains no personal data.
create table changes (
  id text not null,
  type change_type not null,
  subject_id text not null,
  sequence integer not null,
  organization_id text not null,
  channel_id text,
  mode key_mode default 'live' not null,
  feed_position bigint,
  data jsonb not null,
  created_at timestamptz(3) default now() not null,
  constraint changes_id_organization_id_pk primary key (id, organization_id),
  constraint changes_organization_id_organizations_id_fk foreign key (organization_id) references organizations (id),
  constraint changes_channel_id_channels_id_fk foreign key (channel_id) references channels (id)
);
create unique index changes_of_subject_in_order on changes (subject_id, mode, sequence, organization_id);
create unique index changes_in_feed_by_mode on changes (organization_id, mode, feed_position)
  where feed_position is not null;
create index changes_of_audience_by_mode on changes ((organization_id || ' ' || coalesce(channel_id, '')), mode, feed_position)
  where feed_position is not null;
create index changes_without_position on changes (organization_id, sequence) where feed_position is null;

-- The last change of each audience among those that were deleted by age: whoever read it has missed nothing.
-- `audience` is the channel, or empty for all channels of the organization.
create table dropped_changes (
  organization_id text not null,
  mode key_mode default 'live' not null,
  audience text not null,
  feed_position bigint not null,
  id text not null,
  constraint dropped_changes_organization_id_mode_audience_pk primary key (organization_id, mode, audience),
  constraint dropped_changes_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);

-- The last sequence number of each subject among changes that were deleted, from which its next one goes on.
create table dropped_sequences (
  organization_id text not null,
  subject_id text not null,
  mode key_mode default 'live' not null,
  sequence integer not null,
  constraint dropped_sequences_subject_id_mode_organization_id_pk primary key (subject_id, mode, organization_id),
  constraint dropped_sequences_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);

create type webhook_status as enum ('enabled', 'disabled', 'deleted');
-- Endpoints at which channels and integrations receive changes.
create table webhooks (
  id text primary key,
  channel_id text,
  integration_id text,
  mode key_mode default 'live' not null,
  url text not null,
  types change_type[],
  status webhook_status default 'enabled' not null,
  disabled_reason text,
  secret text not null,
  idempotency_key text,
  request_hash text,
  previous_secret text,
  previous_secret_until timestamptz(3),
  failing_since timestamptz(3),
  paused_until timestamptz(3),
  resumes_until timestamptz(3),
  created_at timestamptz(3) default now() not null,
  updated_at timestamptz(3) default now() not null,
  constraint webhooks_have_one_owner check (num_nonnulls(channel_id, integration_id) = 1),
  constraint webhooks_channel_id_channels_id_fk foreign key (channel_id) references channels (id),
  constraint webhooks_integration_id_integrations_id_fk foreign key (integration_id) references integrations (id)
);
create index webhooks_channel_id_index on webhooks (channel_id);
create index webhooks_integration_id_index on webhooks (integration_id);
create index webhooks_resuming on webhooks (id) where resumes_until is not null;

create type webhook_delivery_status as enum ('pending', 'delivered', 'dead');
-- Job queue: the delivery of one change to one webhook, written with it, and deleted before it.
create table webhook_deliveries (
  organization_id text not null,
  webhook_id text not null,
  change_id text not null,
  status webhook_delivery_status default 'pending' not null,
  attempts integer default 0 not null,
  due_at timestamptz(3) default now() not null,
  last_error text,
  last_status integer,
  created_at timestamptz(3) default now() not null,
  delivered_at timestamptz(3),
  constraint webhook_deliveries_webhook_id_change_id_organization_id_pk primary key (webhook_id, change_id, organization_id),
  constraint webhook_deliveries_webhook_id_webhooks_id_fk foreign key (webhook_id) references webhooks (id)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at, change_id) where status = 'pending';
create index webhook_deliveries_status on webhook_deliveries (status, webhook_id, change_id);

-- Jobs

-- Roles that one process has at a time, with the one that has it.
create table leaders (
  role text primary key,
  holder text not null,
  expires_at timestamptz(3) not null
);

-- Turns of retention, an organization each. Whoever claims one moves it an hour on: a lease, so that another process
-- takes over if that one dies.
create table retention_turns (
  organization_id text primary key,
  attempts integer default 0 not null,
  due_at timestamptz(3) default now() not null,
  last_error text,
  constraint retention_turns_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id)
);

-- Events whose attendees are anonymized, so that their tickets are not looked at again.
create table anonymized_events (
  organization_id text not null,
  event_id text not null,
  end_date timestamptz(3) not null,
  constraint anonymized_events_organization_id_event_id_pk primary key (organization_id, event_id),
  constraint anonymized_events_organization_id_organizations_id_fk foreign key (organization_id)
    references organizations (id),
  constraint anonymized_events_event_id_events_id_fk foreign key (event_id) references events (id)
);

-- Hold
-- One function writes what checkouts hold, because round trips under the lock of a rate's counters would cost buyers
-- a third of a flash sale. A release that writes further columns brings types and a function of other names
-- (docs/operations.md, Upgrade): processes of the one before call these.

-- Payment to be held, in the order of arrival.
create type new_payment as (
  id text,
  channel_id text,
  provider text,
  total_amount bigint,
  currency text,
  conditions_changed boolean,
  page_token text,
  redirect_url text,
  error_url text,
  send_tickets boolean,
  language text,
  method payment_method,
  method_reference text,
  ticket_rate_id text,
  hold_minutes integer,
  key_id text,
  request_hash text
);

-- Ticket of such a payment. Its code may be taken only if it was asked for.
create type new_ticket as (
  id text,
  payment_id text,
  position integer,
  event_id text,
  ticket_rate_id text,
  price_id text,
  sale_type sale_type,
  qr_code text,
  currency text,
  price_amount bigint,
  discount_id text,
  discount_amount bigint,
  supplements_amount bigint,
  organization_fee_amount bigint,
  platform_fee_amount bigint,
  warranty_amount bigint,
  total_amount bigint,
  warranty_hours integer,
  full_name text,
  search_name text,
  email text,
  phone text,
  gender text,
  birthday date,
  address text,
  postal_code text,
  country_code text,
  personal_document_type text,
  personal_document_number text,
  answers jsonb,
  supplements jsonb,
  language text,
  referral_id text,
  metadata jsonb,
  admits integer,
  document_token text,
  is_code_asked boolean
);

-- Holds places for payments of one organization and mode, and writes their rows: each whole or not at all, in the order
-- of arrival, so that a small one may fit where a large one before it did not. Locks counters in the order of their
-- ids; without `waits` it passes by those that others have locked. Without `may_use_up` it takes the last of nothing,
-- and holds all payments of a rate or none. Returns the time of the rows as `at`, in milliseconds since 1970, the
-- counters that it left nothing of as `used_up`, and `outcomes`, in the order of the payments: null for one that is held,
-- else an object whose `kind` is
--   LATER         nothing of its rate is held: to be asked again, with `waits` and `may_use_up`
--   FULL          places or uses are gone
--   KEY_IN_USE    a checkout under its idempotency key is in progress
--   KEY_DONE      one under its key is completed
--   CODES         codes of the tickets at its `positions` are taken within the event
create function hold(org text, in_mode key_mode, waits boolean, may_use_up boolean, new_payments new_payment[],
  new_tickets new_ticket[]) returns json language plpgsql as $$
declare
  held_at constant timestamptz(3) := now();
  outcomes jsonb[] := array_fill(null::jsonb, array[cardinality(new_payments)]);
  used_up json[] := '{}';
  least_left constant integer := case when may_use_up then 0 else 1 end;
  unlimited constant bigint := 9223372036854775807;
  has_keys constant boolean := exists (select from unnest(new_payments) where key_id is not null);
  has_codes constant boolean := exists (select from unnest(new_tickets) where is_code_asked);
  asked_ids constant text[] := array(select distinct of.id
    from unnest(new_tickets) as t cross join lateral unnest(array[t.ticket_rate_id, t.price_id, t.discount_id]) as of(id));
  kinds stock_kind[];       -- counters that are locked
  ids text[];
  lefts bigint[];           -- what is left of each
  move_payments integer[];  -- what each payment takes, in order
  move_counters integer[];  -- places in `ids`; null if others have locked it
  move_counts integer[];
  done_keys text[] := '{}';
  taken_codes text[] := '{}';
  own_codes jsonb;
  first_move integer;
  move integer := 1;
  rest bigint;
  is_full boolean;
begin
  -- A row can't tell that a checkout under the same key is in progress: whoever inserts it second waits.
  if has_keys then
    outcomes := array(
      select case when not pg_try_advisory_xact_lock(hashtextextended(key_id, 0)) then '{"kind": "KEY_IN_USE"}'::jsonb end
      from unnest(new_payments) with ordinality as p order by p.ordinality);
    delete from idempotency_keys where organization_id = org and created_at <= now() - interval '24 hours'
      and id = any (array(
        select key_id from unnest(new_payments) with ordinality as p where outcomes[p.ordinality] is null));
  end if;
  if waits then
    select array_agg(kind), array_agg(id), array_agg("left") into kinds, ids, lefts from (
      select kind, id, coalesce(capacity - sold_before - sold - held, unlimited) as "left" from stock
      where organization_id = org and mode = in_mode and id = any (asked_ids) order by id, kind for update
    ) as locked;
  else
    select array_agg(kind), array_agg(id), array_agg("left") into kinds, ids, lefts from (
      select kind, id, coalesce(capacity - sold_before - sold - held, unlimited) as "left" from stock
      where organization_id = org and mode = in_mode and id = any (asked_ids) order by id, kind for update skip locked
    ) as locked;
  end if;
  -- Under the locks, so that all that others have committed is seen.
  if has_keys then
    done_keys := array(select id from idempotency_keys
      where organization_id = org and id = any (array(select key_id from unnest(new_payments))));
  end if;
  if has_codes then
    taken_codes := array(select event_id || ' ' || qr_code from tickets
      where organization_id = org and mode = in_mode and ended is distinct from 'expired'
        and (qr_code, event_id) in (select qr_code, event_id from unnest(new_tickets) where is_code_asked));
  end if;
  select array_agg(payment order by payment, counter), array_agg(counter order by payment, counter),
    array_agg(count order by payment, counter)
  into move_payments, move_counters, move_counts from (
    select p.ordinality as payment, locked.ordinality as counter, count(*) as count
    from unnest(new_payments) with ordinality as p join unnest(new_tickets) as t on t.payment_id = p.id
    cross join lateral (values
      ('rate'::stock_kind, t.ticket_rate_id), ('price', t.price_id), ('discount', t.discount_id)) as asked(kind, id)
    left join unnest(kinds, ids) with ordinality as locked(kind, id)
      on locked.kind = asked.kind and locked.id = asked.id
    where asked.id is not null group by p.ordinality, asked.kind, asked.id, locked.ordinality
  ) as moves;

  -- All together if nothing is taken and all fit, else one after the other.
  if done_keys <> '{}' or taken_codes <> '{}' or num_nonnulls(variadic outcomes) > 0
    or (has_keys and (select count(key_id) > count(distinct key_id) from unnest(new_payments)))
    or (has_codes and (
      select count(*) > count(distinct (event_id, qr_code)) from unnest(new_tickets) where is_code_asked))
    or exists (select from unnest(move_counters, move_counts) as moved(counter, count) group by counter
      having counter is null or sum(count) > lefts[counter] - least_left)
  then
    for payment in 1 .. cardinality(new_payments) loop
      is_full := false;
      first_move := move;
      while move_payments[move] = payment loop
        rest := lefts[move_counters[move]] - move_counts[move];
        if rest is null or rest < least_left then is_full := true; end if;
        move := move + 1;
      end loop;
      if has_codes then
        select jsonb_build_object('kind', 'CODES', 'positions', jsonb_agg(position order by position)) into own_codes
        from unnest(new_tickets)
        where payment_id = (new_payments[payment]).id and is_code_asked and event_id || ' ' || qr_code = any (taken_codes)
        having count(*) > 0;
      end if;
      outcomes[payment] := coalesce(outcomes[payment],
        case when (new_payments[payment]).key_id = any (done_keys) then '{"kind": "KEY_DONE"}'::jsonb end, own_codes,
        case when is_full then '{"kind": "FULL"}'::jsonb end);
      continue when outcomes[payment] is not null;
      for held_move in first_move .. move - 1 loop
        lefts[move_counters[held_move]] := lefts[move_counters[held_move]] - move_counts[held_move];
      end loop;
      done_keys := done_keys || (new_payments[payment]).key_id;
      taken_codes := taken_codes || array(select event_id || ' ' || qr_code from unnest(new_tickets)
        where has_codes and payment_id = (new_payments[payment]).id and is_code_asked);
    end loop;
    if not may_use_up then
      outcomes := array(select case when ticket_rate_id = any (array(
          select ticket_rate_id from unnest(new_payments) with ordinality as other
          where outcomes[other.ordinality] is not null
        )) then '{"kind": "LATER"}'::jsonb end
        from unnest(new_payments) with ordinality as p order by p.ordinality);
    end if;
  end if;

  insert into payments (id, channel_id, provider, total_amount, currency, conditions_changed, page_token, redirect_url,
    error_url, send_tickets, language, method, method_reference,
    organization_id, mode, created_at, expires_at)
  select p.id, p.channel_id, p.provider, p.total_amount, p.currency, p.conditions_changed, p.page_token, p.redirect_url,
    p.error_url, p.send_tickets, p.language, p.method, p.method_reference,
    org, in_mode, held_at, held_at + p.hold_minutes * interval '1 minute'
  from unnest(new_payments) with ordinality as p where outcomes[p.ordinality] is null;
  insert into expiries (organization_id, price_id, mode, payment_id, expires_at, discount_id)
  select org, t.price_id, in_mode, p.id, held_at + p.hold_minutes * interval '1 minute', max(t.discount_id)
  from unnest(new_tickets) as t join unnest(new_payments) with ordinality as p on p.id = t.payment_id
  where outcomes[p.ordinality] is null group by p.id, p.hold_minutes, t.price_id;
  -- In the order of their codes, so that two transactions can't deadlock.
  insert into tickets (id, payment_id, position, event_id, ticket_rate_id, price_id, sale_type, qr_code, currency,
    price_amount, discount_id, discount_amount, supplements_amount, organization_fee_amount, platform_fee_amount,
    warranty_amount, total_amount, warranty_hours, full_name, search_name, email, phone, gender, birthday, address,
    postal_code, country_code, personal_document_type, personal_document_number, answers, supplements, language,
    referral_id, metadata, admits, document_token,
    organization_id, channel_id, mode, created_at, updated_at)
  select t.id, t.payment_id, t.position, t.event_id, t.ticket_rate_id, t.price_id, t.sale_type, t.qr_code, t.currency,
    t.price_amount, t.discount_id, t.discount_amount, t.supplements_amount, t.organization_fee_amount,
    t.platform_fee_amount, t.warranty_amount, t.total_amount, t.warranty_hours, t.full_name, t.search_name, t.email,
    t.phone, t.gender, t.birthday, t.address, t.postal_code, t.country_code, t.personal_document_type,
    t.personal_document_number, t.answers, t.supplements, t.language, t.referral_id, t.metadata, t.admits,
    t.document_token,
    org, p.channel_id, in_mode, held_at, held_at
  from unnest(new_tickets) as t join unnest(new_payments) with ordinality as p on p.id = t.payment_id
  where outcomes[p.ordinality] is null order by t.qr_code;
  if has_keys then
    insert into idempotency_keys (organization_id, id, request_hash, payment_id, created_at)
    select org, p.key_id, p.request_hash, p.id, held_at
    from unnest(new_payments) with ordinality as p where p.key_id is not null and outcomes[p.ordinality] is null;
  end if;
  update stock set held = held + moved.count from (
    select counter, sum(count)::integer as count
    from unnest(move_payments, move_counters, move_counts) as moves(payment, counter, count)
    where outcomes[payment] is null group by counter
  ) as moved
  where organization_id = org and mode = in_mode and kind = kinds[moved.counter] and id = ids[moved.counter];
  if may_use_up then
    used_up := array(select json_build_object('kind', kind, 'id', id, 'usedUp', true) from stock
      where organization_id = org and mode = in_mode and capacity = sold_before + sold + held and (kind, id) in (
        select kinds[counter], ids[counter] from unnest(move_payments, move_counters) as moves(payment, counter)
        where outcomes[payment] is null));
  end if;
  return json_build_object('outcomes', outcomes, 'used_up', used_up,
    'at', (extract(epoch from held_at) * 1000)::bigint);
end
$$;

-- Revisions of events
-- An event's revision changes with the event and with anything listed under it, whoever writes it, so that processes
-- know which of the rows that they remember are still true.

create function renew_event() returns trigger language plpgsql as $$
begin
  new.revision := gen_random_uuid();
  return new;
end
$$;
create trigger renew_event before update on events for each row execute function renew_event();

create function renew_events_of_rates() returns trigger language plpgsql as $$
declare
  ids text[];
begin
  if tg_op = 'UPDATE' then
    ids := array(select event_id from touched union select event_id from former);
  else
    ids := array(select distinct event_id from touched);
  end if;
  update events set revision = default where id = any (ids) and xmin <> pg_current_xact_id()::xid;
  return null;
end
$$;

create function renew_events_of_children() returns trigger language plpgsql as $$
declare
  ids text[];
begin
  if tg_op = 'UPDATE' then
    ids := array(select ticket_rate_id from touched union select ticket_rate_id from former);
  else
    ids := array(select distinct ticket_rate_id from touched);
  end if;
  ids := array(select distinct event_id from ticket_rates where id = any (ids));
  update events set revision = default where id = any (ids) and xmin <> pg_current_xact_id()::xid;
  return null;
end
$$;

create trigger renew_events_on_insert after insert on ticket_rates
  referencing new table as touched for each statement execute function renew_events_of_rates();
create trigger renew_events_on_update after update on ticket_rates
  referencing old table as former new table as touched for each statement execute function renew_events_of_rates();
create trigger renew_events_on_delete after delete on ticket_rates
  referencing old table as touched for each statement execute function renew_events_of_rates();
create trigger renew_events_on_insert after insert on prices
  referencing new table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_update after update on prices
  referencing old table as former new table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_delete after delete on prices
  referencing old table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_insert after insert on supplements
  referencing new table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_update after update on supplements
  referencing old table as former new table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_delete after delete on supplements
  referencing old table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_insert after insert on questions
  referencing new table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_update after update on questions
  referencing old table as former new table as touched for each statement execute function renew_events_of_children();
create trigger renew_events_on_delete after delete on questions
  referencing old table as touched for each statement execute function renew_events_of_children();

-- Revisions of channels
-- A channel's revision changes with its grants, whoever writes them, so that processes know whether the organizations
-- that they remember are still those.

create function renew_channels() returns trigger language plpgsql as $$
begin
  update channels set revision = default where id in (select channel_id from touched);
  return null;
end
$$;
create trigger renew_channels_on_insert after insert on grants
  referencing new table as touched for each statement execute function renew_channels();
create trigger renew_channels_on_delete after delete on grants
  referencing old table as touched for each statement execute function renew_channels();
