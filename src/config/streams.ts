import { wholeNumber } from './setting-types.ts'

/** Environment variables for event streams, used under their names in camel case. */
export const streamSettings = {
  /** Maximum of open event streams per set of credentials, in each process. */
  STREAMS_PER_KEY: wholeNumber(1, 1_000_000).default(10_000),
  /** Maximum of those that are sent every change or check-in, per set of credentials, in each process. */
  FEED_STREAMS_PER_KEY: wholeNumber(1, 1_000_000).default(50),
  /** Maximum of open event streams per address, in each process. */
  STREAMS_PER_ADDRESS: wholeNumber(1, 1_000_000).default(100),
}

// Part of all connections that streams may take: the others are for requests.
const shareOfConnections = 0.8

/** Limits of open event streams in a process. Streams of all clients leave a fifth of the connections to
 *  requests. */
export const streamLimitsOf = (config: {
  maxConnections: number
  streamsPerKey: number
  feedStreamsPerKey: number
  streamsPerAddress: number
}) => ({
  total: Math.ceil(config.maxConnections * shareOfConnections),
  perKey: config.streamsPerKey,
  feedsPerKey: config.feedStreamsPerKey,
  perAddress: config.streamsPerAddress,
})
