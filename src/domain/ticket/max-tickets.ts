/** Tickets of one checkout at most, whatever the rate allows (DECISIONS 4). */
export const maxTickets = 50
