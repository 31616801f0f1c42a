// Grows a catalogue by SQL: copies each event with all its parts under new identifiers, half of the copies
// years ago and half years ahead. The first page stays the same, so that pages of large and small catalogues
// can be compared.

// Longer than the demo's year, so that no copy lands among the first events.
const days = 400

// Odd copies are in the future, even copies in the past.
const shift = `make_interval(days => ${days} * case when copy % 2 = 1 then (copy + 1) / 2 else -copy / 2 end)`
const again = (id: string) => `${id} || '_' || copy`

/** Columns of a table, and the expressions by which a copy differs. */
const copies: [table: string, columns: string, changed: Record<string, string>][] = [
  [
    'events',
    `organization_id, location_id, name, slug, description, age, outfit, ambiences, music_genres, artists, image_url,
      iframe_tag_url, iframe_script_url, search_words`,
    {
      id: again('id'),
      display_date: `display_date + ${shift}`,
      start_date: `start_date + ${shift}`,
      end_date: `end_date + ${shift}`,
    },
  ],
  ['stock', 'organization_id, kind, mode, capacity, sold_before', { id: again('id') }],
  [
    'ticket_rates',
    `organization_id, position, name, slug, complete, type, min, max, show_all_prices, warranty_enabled,
      warranty_percentage, warranty_hours, removed`,
    { id: again('id'), event_id: again('event_id'), valid_from: `valid_from + ${shift}` },
  ],
  [
    'prices',
    'position, name, amount, currency, includes, additional_info, fee_type, fee_quantity, removed',
    {
      id: again('id'),
      ticket_rate_id: again('ticket_rate_id'),
      valid_until: `valid_until + ${shift}`,
    },
  ],
  [
    'supplements',
    'position, label, amount, currency, has_fake_price, fake_amount, removed',
    { id: again('id'), ticket_rate_id: again('ticket_rate_id') },
  ],
  [
    'questions',
    'position, label, type, required, options, removed',
    { id: again('id'), ticket_rate_id: again('ticket_rate_id') },
  ],
]

/** Multiplies the catalogue by `times`. Run in one transaction. */
export const growCatalogue = (times: number): string[] => [
  // Skips the foreign key checks, since copies refer to copies. Requires a superuser.
  `select set_config('session_replication_role', 'replica', true) where current_setting('is_superuser') = 'on'`,
  ...copies.map(
    ([table, columns, changed]) => `
      insert into ${table} (${columns}, ${Object.keys(changed).join(', ')})
      select ${columns}, ${Object.values(changed).join(', ')}
      from ${table}, generate_series(1, ${times - 1}) as copy`,
  ),
]
