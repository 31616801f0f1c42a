import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

// The yardstick of shared reads: node:http with the bytes in memory. A PUT sets the response of a path.

type Answer = { headers: { 'content-type': string; 'content-length': number }; body: Buffer }

const answers = new Map<string, Answer>()

createServer((request, response) => {
  const path = request.url ?? ''
  if (path === '/ready') return response.writeHead(200).end()
  if (request.method === 'PUT') {
    const type = request.headers['content-type'] ?? 'application/octet-stream'
    return void buffer(request).then((body) => {
      answers.set(path, { headers: { 'content-type': type, 'content-length': body.length }, body })
      response.writeHead(204).end()
    })
  }
  const answer = answers.get(path)
  if (!answer) return response.writeHead(404).end()
  response.writeHead(200, answer.headers).end(answer.body)
}).listen(Number(process.env.PORT), '127.0.0.1')
