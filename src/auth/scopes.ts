/** Rights of an integration's key, in the order in which they are shown. A key has all of them where none is
 *  named (DECISIONS 10). Changes of a holder need `sales`, because whoever sold a ticket corrects it; cancelling needs
 *  `refunds`, because it takes a ticket back. */
export const integrationScopes = ['tickets:read', 'door', 'refunds', 'sales', 'catalogue'] as const

export type IntegrationScope = (typeof integrationScopes)[number]
