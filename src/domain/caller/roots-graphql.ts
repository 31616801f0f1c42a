import { builder, enumOf } from '../../engine/graphql/builder.ts'
import type { Mode } from './mode.ts'

// Roots of the schema, and the modes of keys: every caller meets them first.

builder.queryType({
  description:
    "Everything that can be read. Send an API key in the header `X-Api-Key`: that of a channel, a publishable one for a channel's pages, or that of an integration. Each field says who may call it, and which scope of its key an integration needs. A field that fails is null, with an error whose `extensions.code` says why, and leaves the others. Operations are limited in depth, number of fields and cost, and each key in requests a second.",
})
builder.mutationType({
  description:
    'Everything that can be changed. Each field takes one `input` and returns a result: its payload, or `Refused` with all reasons. Results never get a third member. A mutation that fails is null, and leaves the results of those before it. An `idempotencyKey` makes retries safe; it is required where a repeated call costs money or counts people.',
})
builder.subscriptionType({
  description:
    'Everything that can be streamed, as `text/event-stream`, by the protocol GraphQL over Server-Sent Events in distinct connections mode.',
})

/** Mode of a key, and of what was sold with it. */
export const ModeRef = enumOf<Mode>(
  'Mode',
  'Mode of a key, and of everything that is sold with it. Values may be added: treat an unknown one as `TEST`.',
  {
    live: 'Real tickets, for real money.',
    test: 'Test tickets: they cost nothing, take none of the live places and open no door.',
  },
)
