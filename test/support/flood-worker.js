// A flood on loopback, in a thread of its own: connections of one address that send requests in turn, each as soon as
// the one before is answered.
import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const { url, requests, connections } = workerData
const agent = new Agent({ keepAlive: true, maxSockets: connections })
const statuses = {}
let next = 0
let isOver = false

function send() {
  if (isOver) return
  const { method, path, headers, body } = requests[next++ % requests.length]
  const sent = request(url + path, { agent, method, headers }, (answer) => {
    statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1
    answer.resume().on('close', send)
  })
  sent.on('error', () => setTimeout(send, 10))
  sent.end(body)
}

for (let index = 0; index < connections; index++) send()
parentPort.on('message', () => {
  isOver = true
  parentPort.postMessage(statuses)
  agent.destroy()
})
