// A crowd on loopback, in a thread of its own, so that reading what it is sent does not hold up who is measured:
// sockets from many addresses that send something and read whatever comes.
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { port, sockets } = workerData
let open = 0
let closed = 0
let bytes = 0
const buffer = Buffer.alloc(64 * 1024)
function callback(length) {
  bytes += length
  return true
}

function openOne({ localAddress, send }) {
  const socket = connect({ port, host: '127.0.0.1', localAddress, onread: { buffer, callback } })
  socket.on('connect', () => {
    open++
    if (send) socket.write(send)
  })
  socket.on('error', () => {})
  socket.on('close', () => closed++)
}

const atOnce = 50
const timer = setInterval(() => {
  for (const socket of sockets.splice(0, atOnce)) openOne(socket)
  if (sockets.length === 0) clearInterval(timer)
}, 20)
parentPort.on('message', () => parentPort.postMessage({ waiting: sockets.length, open, closed, bytes }))
