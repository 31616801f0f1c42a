/** Maximum number of tickets per checkout, even if the rate allows more (DECISIONS 4). */
export const maxTickets = 50
