import { minimumAge } from '../../src/domain/event/minimum-age.ts'
import { feeOf } from '../../src/domain/ticket-rate/sale-rules.ts'
import { toMajor, toMinor } from '../../src/engine/base/money.ts'
import { type Amount, attendeeFields, fromAttendee } from './contract-input.ts'

// Facts that both surfaces state, in REST's names: from what GraphQL selects, and from bodies of REST.

// biome-ignore lint/suspicious/noExplicitAny: answers of both surfaces, whose fields the tests compare.
type Given = any

const amount = '{ amount currency }'
const amounts = `amounts { price ${amount} discount ${amount} supplements ${amount} fees ${amount} warranty ${amount}
  total ${amount} }`
const settlement = `settlement { paid ${amount} refunded ${amount} commission ${amount} net ${amount} }`
const price = `id name price ${amount} fee ${amount} total ${amount} validUntil limit includes additionalInfo`

/** Selection of all that REST tells of an event, too. */
export const eventFields = `id name slug description minimumAge outfit ambiences musicGenres artists { name imageUrl }
  displayDate startDate endDate organization { id currency } imageUrl location { id } iframe { tagUrl scriptUrl }
  ticketRates { id event { id organization { id } } name slug validFrom complete type status prices { ${price} }
    supplements { id name price ${amount} compareAtPrice ${amount} } available availability { sold available }
    minPerCheckout maxPerCheckout questions { id label type required options { label } } showAllPrices
    warranty { percentage endsAt } }`

/** Selection of all that REST tells of a ticket that was checked out, too. */
export const issuedFields = `id event { id startDate } ticketRate { id } qrCode status price { ${price} } channel { id }
  ${attendeeFields} answers { question { id } text checked } supplements { supplementId price ${amount} }
  refunds { status amount ${amount} succeededAt } admits inside lastEnteredAt
  warranty { price ${amount} endsAt } ${amounts} ${settlement}`

/** Selection of all that REST tells of a ticket in the lookup, too. */
export const lookupFields = `id activatedAt channel { id } qrCode ${attendeeFields} inside lastEnteredAt
  event { id minimumAge organization { id } } admits payment { id } price { id price ${amount} includes additionalInfo }
  ticketRate { id name slug } referralId saleType status invoiceReference correctiveInvoiceReferences
  supplements { supplementId price ${amount} name description compareAtPrice ${amount} count redeemed }
  ${amounts} ${settlement}`

const lower = (name: string) => name.toLowerCase()
const numberOf = (given: Amount | null) => given && Number(given.amount)

const priceFacts = (given: Given) => ({
  _id: given.id,
  name: given.name,
  price: numberOf(given.price),
  valid_until: given.validUntil,
  quantity: given.limit ?? 0,
  includes: given.includes,
  additional_info: given.additionalInfo,
  fee: numberOf(given.fee),
  total: numberOf(given.total),
  currency: given.total.currency,
})

const restPriceFacts =
  (currency: string) =>
  ({ fee_type: feeType, fee_quantity: quantity, ...same }: Given) => {
    const inMinor = (major: number) => toMinor(major, currency)
    const feeQuantity = feeType === 'fixed' ? inMinor(quantity) : quantity
    const fee = feeOf({ feeType, feeQuantity, currency }, inMinor(same.price))
    return {
      ...same,
      fee: toMajor(fee, currency),
      total: toMajor(inMinor(same.price) + fee, currency),
      currency,
    }
  }

/** Facts of an event of GraphQL. */
export const eventFacts = (event: Given) => ({
  _id: event.id,
  name: event.name,
  slug: event.slug,
  description: event.description,
  minimum_age: event.minimumAge,
  outfit: event.outfit,
  ambiences: event.ambiences,
  music_genres: event.musicGenres,
  artists: event.artists.map(({ name, imageUrl }: Given) => ({ name, image_url: imageUrl })),
  display_date: event.displayDate,
  start_date: event.startDate,
  end_date: event.endDate,
  organization_id: event.organization.id,
  image_url: event.imageUrl,
  location_id: event.location?.id ?? null,
  iframe: event.iframe && { tag_url: event.iframe.tagUrl, script_url: event.iframe.scriptUrl },
  ticket_rates: event.ticketRates.map((rate: Given) => ({
    _id: rate.id,
    organization_id: rate.event.organization.id,
    event_id: rate.event.id,
    name: rate.name,
    slug: rate.slug,
    valid_from: rate.validFrom,
    complete: rate.complete,
    type: lower(rate.type),
    prices: rate.prices.map(priceFacts),
    supplements: rate.supplements.map((supplement: Given) => ({
      _id: supplement.id,
      label: supplement.name,
      price: numberOf(supplement.price),
      fake_price: numberOf(supplement.compareAtPrice),
    })),
    available: rate.available,
    on_sale: rate.status === 'ON_SALE',
    availability: rate.availability,
    min: rate.minPerCheckout,
    max: rate.maxPerCheckout,
    questions: rate.questions.map(({ id, type, options, ...same }: Given) => ({
      _id: id,
      type: lower(type),
      items: options.map(({ label }: Given) => label),
      ...same,
    })),
    show_all_prices: rate.showAllPrices,
    warranty: rate.warranty && { percentage: rate.warranty.percentage, ends_at: rate.warranty.endsAt },
  })),
})

const hoursBefore = (start: string, hours: number) =>
  new Date(new Date(start).getTime() - hours * 3_600_000).toISOString()

/** Facts of an event of REST, whose organization has this currency. */
export const restEventFacts = ({ age, ticket_rates, ...event }: Given, currency: string) => ({
  ...event,
  minimum_age: minimumAge({ age }),
  ticket_rates: ticket_rates.map(({ prices, supplements, warranty, ...rate }: Given) => ({
    ...rate,
    prices: prices.map(restPriceFacts(currency)),
    supplements: supplements.map(({ has_fake_price, fake_price, ...same }: Given) => ({
      ...same,
      fake_price: has_fake_price ? fake_price : null,
    })),
    on_sale: rate.available,
    min: rate.min ?? 1,
    max: Math.min(rate.max ?? 50, 50),
    warranty: warranty.enabled
      ? { percentage: warranty.percentage, ends_at: hoursBefore(event.start_date, warranty.hours) }
      : null,
  })),
})

const sumOf = (refunds: Given[]) => refunds.reduce((sum, { amount }) => sum + Number(amount.amount), 0)

/** Facts of a ticket of GraphQL that was checked out. */
export function issuedFacts(ticket: Given) {
  const { fullName, email, phone, language: _, ...attendee } = fromAttendee(ticket.attendee) as Given
  const settled = ticket.refunds.filter(({ status }: Given) => status === 'SUCCEEDED')
  return {
    _id: ticket.id,
    event_id: ticket.event.id,
    ticket_rate_id: ticket.ticketRate.id,
    qr_code: ticket.qrCode,
    status: /PENDING|ACTIVATED/.test(ticket.status) ? 'active' : lower(ticket.status),
    price: priceFacts(ticket.price),
    payment_currency: ticket.amounts.total.currency,
    channel_id: ticket.channel.id,
    fees: { organization: numberOf(ticket.amounts.fees), platform: numberOf(ticket.settlement.commission) },
    full_name: fullName,
    phone,
    email,
    birthday: attendee.birthday,
    address: attendee.address,
    postal_code: attendee.postalCode,
    country_code: attendee.countryCode,
    personal_document_type: attendee.personalDocumentType && lower(attendee.personalDocumentType),
    personal_document_number: attendee.personalDocumentNumber,
    answers: ticket.answers.map(({ question, text, checked }: Given) => ({
      question_id: question.id,
      answer: text ?? String(checked),
    })),
    supplements: ticket.supplements.map((sold: Given) => ({
      supplement_id: sold.supplementId,
      price: numberOf(sold.price),
    })),
    refunded: sumOf(settled),
    refunded_at: settled.at(-1)?.succeededAt ?? null,
    refunds: settled.map(({ amount, succeededAt }: Given) => ({ amount: numberOf(amount), at: succeededAt })),
    for: ticket.admits,
    enter: ticket.inside,
    entry_time: ticket.lastEnteredAt,
    total_supplements: numberOf(ticket.amounts.supplements),
    total_fees: numberOf(ticket.amounts.fees),
    total_price: numberOf(ticket.amounts.total),
    warranty: ticket.warranty && { total: numberOf(ticket.warranty.price), ends_at: ticket.warranty.endsAt },
  }
}

/** Facts of a ticket that REST checked out, for an event that starts at a time. */
export const restIssuedFacts = (
  { gender: _, price, warranty, refunds, fees, ...ticket }: Given,
  { status, event: { startDate } }: Given,
) => ({
  ...ticket,
  // GraphQL has the commission in the settlement: none before there is money.
  fees: status === 'PENDING' ? { ...fees, platform: 0 } : fees,
  price: restPriceFacts(ticket.payment_currency)(price),
  refunds: refunds.map(({ amount, at }: Given) => ({ amount, at })),
  warranty:
    warranty.total > 0 || warranty.hours > 0
      ? { total: warranty.total, ends_at: hoursBefore(startDate, warranty.hours) }
      : null,
})

/** Facts of a ticket in the lookup of GraphQL. */
export const lookupFacts = (ticket: Given) => ({
  _id: ticket.id,
  activation_date: ticket.activatedAt,
  channel_id: ticket.channel?.id ?? ticket.event.organization.id,
  code: ticket.qrCode,
  discount_quantity_subtract: numberOf(ticket.amounts.discount),
  email: ticket.attendee.email,
  address: ticket.attendee.address?.street ?? null,
  language: ticket.attendee.language,
  country: ticket.attendee.address?.countryCode ?? null,
  postal_code: ticket.attendee.address?.postalCode ?? null,
  enter: ticket.inside,
  entry_date: ticket.lastEnteredAt ? Math.floor(Date.parse(ticket.lastEnteredAt) / 1000) : 0,
  event_id: ticket.event.id,
  for: ticket.admits,
  name: ticket.attendee.fullName,
  payment_id: ticket.payment.id,
  phone: ticket.attendee.phone,
  price: numberOf(ticket.amounts.price),
  raised: numberOf(ticket.settlement.net),
  rate_id: ticket.ticketRate.id,
  rate_name: ticket.ticketRate.name,
  rate_slug: ticket.ticketRate.slug,
  referral_id: ticket.referralId,
  refunded: numberOf(ticket.settlement.refunded),
  sale_type: lower(ticket.saleType),
  price_info: {
    _id: ticket.price.id,
    price: numberOf(ticket.price.price),
    age: ticket.event.minimumAge,
    content: ticket.price.includes,
    additional_info: ticket.price.additionalInfo,
  },
  supplements: ticket.supplements.map((sold: Given) => ({
    _id: sold.supplementId,
    price: numberOf(sold.price),
    label: sold.name,
    description: sold.description,
    has_fake_price: sold.compareAtPrice !== null,
    fake_price: numberOf(sold.compareAtPrice),
    product_quantity: sold.count,
    product_quantity_used: sold.redeemed,
  })),
  status: lower(ticket.status),
  // In the decimals of the currency, without the noise of a sum of floats.
  total_extras: Number(
    (Number(ticket.amounts.supplements.amount) + Number(ticket.amounts.warranty.amount)).toFixed(3),
  ),
  total_fees: numberOf(ticket.amounts.fees),
  total_paid: numberOf(ticket.settlement.paid),
  invoice_reference: ticket.invoiceReference,
  corrective_invoice_references: ticket.correctiveInvoiceReferences,
})
