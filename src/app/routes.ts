import { scanListRoute } from '../domain/check-in/scan-list-rest.ts'
import { eventListRoute, eventRoute } from '../domain/listing/events-rest.ts'
import { channelTicketRoutes, organizationTicketRoutes } from '../domain/lists/rest.ts'
import { paymentRoute } from '../domain/payment/rest.ts'
import { checkoutRoute } from '../domain/sale/checkout/checkout-rest.ts'
import { lookupRoute } from '../domain/ticket/rest.ts'

/** Authenticated routes of REST below the base path for channels. */
export const channelRoutes = [eventListRoute, eventRoute, paymentRoute, checkoutRoute, ...channelTicketRoutes]

/** Authenticated routes of REST below the base path for integrations. */
export const integrationRoutes = [...organizationTicketRoutes, lookupRoute, scanListRoute]

/** Last parts of paths that an identifier follows. */
export const lookups = ['tickets', 'payments', 'pay']
