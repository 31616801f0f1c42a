import { createServer } from 'node:http'
import postgres from 'postgres'
import { envelope, type Page, pageStatements } from './bare-pages-sql.ts'

// The yardstick of the pages: node:http and the driver, with nothing between them and nothing checked. It has as many
// connections as the gateway.

const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10, onnotice: () => {} })
const parameters: Partial<Record<Page, (string | number)[]>> = JSON.parse(process.env.PARAMETERS ?? '{}')

const pages = new Map(
  (Object.keys(pageStatements) as Page[]).map((page) => {
    const [before, after] = envelope(page)
    return [
      `/${page}`,
      async () => {
        const [row] = await sql.unsafe<{ page: string }[]>(pageStatements[page], parameters[page] ?? [], {
          prepare: true,
        })
        return before + row?.page + after
      },
    ]
  }),
)

createServer((request, response) => {
  const page = pages.get(request.url ?? '')
  if (!page) return response.writeHead(request.url === '/ready' ? 200 : 404).end()
  page().then(
    (text) => {
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
      }
      response.writeHead(200, headers).end(text)
    },
    (error) => {
      console.error(error)
      response.writeHead(500).end()
    },
  )
}).listen(Number(process.env.PORT), '127.0.0.1')
