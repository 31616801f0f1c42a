import { z } from 'zod'
import {
  countryCode,
  discountCode,
  identifier,
  language,
  latitude,
  lines,
  longitude,
  text,
} from '../../shared/input-types.ts'
import {
  amount,
  currency,
  derived,
  limit,
  list,
  optional,
  percentage,
  rule,
  slug,
  timestamp,
  timezone,
} from './fields.ts'

// Schemas of organizations, their discounts, and locations in the import file.

export const organizationShape = {
  _id: identifier,
  name: text(200),
  slug,
  currency,
  language: language
    .nullish()
    .describe('Language that buyers are addressed in unless their checkout names another. Defaults to `en`.'),
  platform_fee_percentage: percentage
    .nullish()
    .describe('Commission of the platform, in percent of each price.'),
}

export const discountFile = z
  .strictObject({
    _id: identifier.nullish().describe(derived),
    code: discountCode.describe('Code that buyers type. Its case does not matter.'),
    name: optional(text(200)).describe('Display name. Defaults to the code.'),
    percentage: percentage.nullish().describe('Percentage off the price. Give this or `amount`.'),
    amount: amount.nullish(),
    ticket_rate_ids: z
      .array(identifier)
      .max(1_000, 'must name at most 1000 rates')
      .nullish()
      .describe('Rates that it applies to; all of the organization if empty or null.'),
    valid_from: timestamp.nullish(),
    valid_until: timestamp.nullish(),
    quantity: limit.describe('Maximum number of tickets that it can be used for; 0 or null for no limit.'),
    max_per_checkout: limit.describe(
      'Maximum number of tickets per checkout that it applies to; 0 or null for no limit.',
    ),
  })
  .refine(
    ({ percentage, amount }) => (percentage == null) !== (amount == null),
    rule('amount', 'must be given where percentage is not, and only there'),
  )
  .refine(
    ({ valid_from, valid_until }) => !(valid_from && valid_until && valid_until <= valid_from),
    rule('valid_until', 'must be after valid_from'),
  )

export const organizationFile = z.strictObject({ ...organizationShape, discounts: list })

export const locationFile = z
  .strictObject({
    _id: identifier,
    organization_id: identifier,
    name: text(200),
    address: optional(lines(500)),
    city: optional(text(200)),
    country_code: optional(countryCode),
    latitude: latitude.nullish(),
    longitude: longitude.nullish(),
    timezone: timezone.nullish(),
  })
  .refine(
    (location) => (location.latitude == null) === (location.longitude == null),
    rule('longitude', 'must be given where latitude is, and only there'),
  )
