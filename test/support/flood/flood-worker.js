// A flood in a thread of its own, so that sending it does not hold up who is measured: each connection sends the next
// request as soon as it has its answer. `{{n}}` in a body is a number that no other request has.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const { url, requests, connections } = workerData
const agent = new Agent({ keepAlive: true, maxSockets: connections })
const statuses = {}
let sent = 0
let stopped = false

async function send() {
  const number = ++sent
  const { method = 'POST', path = '/graphql', headers = {}, body } = requests[number % requests.length]
  const asked = request(url + path, { method, agent, headers })
  asked.end(body?.replaceAll('{{n}}', String(number)))
  const [answer] = await once(asked, 'response')
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) if (text.length < 500) text += chunk
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? ''
  const outcome = `${answer.statusCode} ${code}`.trim()
  statuses[outcome] = (statuses[outcome] ?? 0) + 1
}

async function connection() {
  while (!stopped) await send().catch(() => new Promise((resolve) => setTimeout(resolve, 10)))
}

const all = Array.from({ length: connections }, connection)
parentPort.on('message', async () => {
  stopped = true
  // What is on its way is waited for, so that the next flood begins on a quiet service.
  await Promise.race([Promise.all(all), new Promise((resolve) => setTimeout(resolve, 20_000))])
  agent.destroy()
  parentPort.postMessage(statuses)
})
