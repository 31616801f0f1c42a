// The built service, which reports to its parent process how long its event loop was blocked: `node
// --expose-gc measured-server.js bounded|unbounded`. It runs in its own process, because a hostile request
// would block the test as well, or kill it.
import { setImmediate as turn } from 'node:timers/promises'
import { parseConfig } from '../../../dist/app/settings.js'
import { sandboxProvider } from '../../../dist/domain/payment/sandbox.js'
import { requestLimits } from '../../../dist/engine/base/request-limits.js'
import { openDatabase } from '../../../dist/engine/database/open.js'

// Without the limits of values, introspection and errors. The limits of body and document size stay. Set
// before the service is loaded, because it reads the limits once.
const unbounded = {
  maxJsonDepth: Infinity,
  maxJsonWidth: Infinity,
  maxJsonValues: Infinity,
  maxNameLength: Infinity,
  maxIntrospectedValues: Infinity,
  maxGraphqlErrors: Infinity,
  maxErrors: Infinity,
}
if (process.argv[2] === 'unbounded') Object.assign(requestLimits, unbounded)
const { createApp } = await import('../../../dist/app/app.js')

const config = parseConfig({
  LOG_LEVEL: 'silent',
  RATE_LIMIT: 'off',
  DATABASE_URL: process.env.DATABASE_URL,
})
const { db, replica } = await openDatabase(config)
const app = await createApp({ db, replica, config, provider: sandboxProvider })
const url = await app.listen({ host: '127.0.0.1', port: 0 })

// CPU time in milliseconds, which other processes hardly affect.
const spent = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

// A reference task that takes 5 ms on the idle machine on which the limits were chosen, to measure how much
// slower this one is now. Like a request, it mostly works on memory.
const text = JSON.stringify(
  Array.from({ length: 8_000 }, (_, index) => ({ id: `id_${index}`, values: [index] })),
)
const slowness = () => {
  const before = spent()
  JSON.stringify(JSON.parse(text))
  return Math.max(1, (spent() - before) / 5)
}

let longest = 0
let isMeasuring = false
async function measure() {
  isMeasuring = true
  longest = 0
  for (let before = spent(); isMeasuring; ) {
    await turn()
    const now = spent()
    longest = Math.max(longest, now - before)
    before = now
  }
}

const answers = {
  start() {
    const slow = slowness()
    void measure()
    return { slowness: slow }
  },
  stop() {
    isMeasuring = false
    return { longest }
  },
  memory() {
    globalThis.gc()
    return { memory: process.memoryUsage.rss() }
  },
}
process.on('message', (asked) => process.send(answers[asked]()))
process.on('disconnect', () => process.exit())
for (let time = 0; time < 20; time++) slowness()
process.send({ url })
