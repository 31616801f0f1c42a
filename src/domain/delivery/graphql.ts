import { builder } from '../../graphql/builder.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { documentUrl } from './document-url.ts'

builder.objectField(TicketRef, 'documentUrl', (t) =>
  t.string({
    nullable: true,
    description:
      'URL of the ticket as a PDF, for the buyer. Anybody with this URL can use the ticket. Null before payment and after cancellation.',
    resolve: (ticket, _args, { services }) => documentUrl(ticket, services.publicUrl()),
  }),
)
