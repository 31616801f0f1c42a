import { createServer, type ServerResponse } from 'node:http'
import postgres from 'postgres'
import {
  listEnvelope,
  listStatements,
  lookupEnvelope,
  lookupStatements,
  type Surface,
} from './bare-lookups-sql.ts'
import { envelope, type Page, pageStatements } from './bare-pages-sql.ts'

// The yardstick of pages and lookups: node:http and the driver, without any checks. It has as many
// connections as the gateway, and its cost of an index.

type Parameters = (string | number)[]

const sql = postgres(process.env.DATABASE_URL ?? '', {
  max: 10,
  connection: { random_page_cost: 1.1 },
  onnotice: () => {},
})
const pageParameters: Partial<Record<Page, Parameters>> = JSON.parse(process.env.PARAMETERS ?? '{}')

/** Runs a statement and wraps its text in the envelope. Returns null if there is no row. */
async function answer(
  statement: string,
  parameters: Parameters,
  [before, after]: [string, string],
): Promise<string | null> {
  const [row] = await sql.unsafe<{ body: string }[]>(statement, parameters, { prepare: true })
  return row ? before + row.body + after : null
}

const isPage = (name: string): name is Page => name in pageStatements
const isSurface = (name: string): name is Surface => name in lookupStatements

// `/pages/{page}`, `/tickets/{surface}/{id}` and `/lists/{surface}/{id}`
function read(url: string): Promise<string | null> {
  const [, kind, name = '', id = ''] = url.split('/')
  if (kind === 'pages' && isPage(name))
    return answer(pageStatements[name], pageParameters[name] ?? [], envelope(name))
  if (kind === 'tickets' && isSurface(name)) return answer(lookupStatements[name], [id], lookupEnvelope(name))
  if (kind === 'lists' && isSurface(name)) return answer(listStatements[name], [id], listEnvelope(name))
  return Promise.resolve(null)
}

function send(response: ServerResponse, text: string | null): void {
  if (text === null) return void response.writeHead(404).end()
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  }
  response.writeHead(200, headers).end(text)
}

createServer((request, response) => {
  if (request.url === '/ready') return response.writeHead(200).end()
  read(request.url ?? '').then(
    (text) => send(response, text),
    (error) => {
      console.error(error)
      response.writeHead(500).end()
    },
  )
}).listen(Number(process.env.PORT), '127.0.0.1')
