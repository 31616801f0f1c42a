import { builder } from '../../graphql/builder.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { documentUrl } from './document-url.ts'

builder.objectField(TicketRef, 'documentUrl', (t) =>
  t.string({
    nullable: true,
    description:
      'Where the ticket is as PDF, for the buyer. Whoever has the address has the ticket. Null until it is paid, and once it is cancelled.',
    resolve: (ticket, _args, { services }) => documentUrl(ticket, services.publicUrl()),
  }),
)
