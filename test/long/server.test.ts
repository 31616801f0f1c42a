import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mustStartDemo, type ServerProcess, startServer } from '../support/processes.ts'
import { makeDatabaseFolder } from '../support/setup/temporary-folder.ts'

// The service with its demo on its default embedded database. One process creates the data folder and is killed; a second
// takes the folder over and is stopped; a third opens it again.

let parent: string
let folder: string
/** Output, event list and keys of the first process. */
let printed: string
let listed: Listed[]
let keys: { key: string; secret: string }
let server: ServerProcess

const start = async () => {
  server = await mustStartDemo({ DATA_DIR: folder })
}

type Listed = { _id: string; image_url: string; artists: { name: string }[] }

const listEvents = async (): Promise<Listed[]> =>
  (await (await fetch(`${server.url}/events?limit=100`, { headers: { 'x-api-key': keys.key } })).json()).data

// Every start listens on another port, where the posters then are.
const withoutPosters = (events: Listed[]) =>
  events.map(({ artists, ...event }) => ({
    ...event,
    image_url: null,
    artists: artists.map(({ name }) => name),
  }))

beforeAll(async () => {
  parent = await makeDatabaseFolder('server')
  folder = join(parent, 'data')
  await start()
  printed = server.output()
  keys = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'))
  listed = await listEvents()
  await server.stop('SIGKILL')
  await start()
})
afterAll(async () => {
  await server.stop('SIGKILL')
  await rm(parent, { recursive: true, force: true })
})

test('the first start seeds the demo and prints its keys', () => {
  expect(listed).toHaveLength(60)
  expect(printed).toContain(keys.key)
  expect(printed).toContain(keys.secret)
})

test('a start after a kill takes over the folder with all its data', async () => {
  expect(withoutPosters(await listEvents())).toEqual(withoutPosters(listed))
})

test('the posters of the demo are where the service is now', async () => {
  const posterOf = async () => (await listEvents())[0]?.image_url ?? ''
  await expect.poll(posterOf).toBe(`${server.url}/shop/posters/evt_demo_1.svg`)
  expect((await fetch(await posterOf())).headers.get('content-type')).toBe('image/svg+xml')
})

test('the shop has a publishable key, for pages of where the service is now', async () => {
  const keyIn = (page: string) => /data-key="(box_pub_[^"]+)"/.exec(page)?.[1] ?? ''
  const readPage = async () => (await fetch(`${server.url}/shop`)).text()
  await expect.poll(async () => keyIn(await readPage())).not.toBe('')
  const statusFrom = async (origin: string) => {
    const headers = { 'x-api-key': keyIn(await readPage()), 'content-type': 'application/json', origin }
    const body = JSON.stringify({ query: '{ events(first: 1) { nodes { id } } }' })
    return (await fetch(`${server.url}/graphql`, { method: 'POST', headers, body })).status
  }
  expect(await statusFrom(server.url)).toBe(200)
  expect(await statusFrom('https://elsewhere.example')).not.toBe(200)
})

test('the running service is healthy and ready', async () => {
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
})

test('a start on a data folder in use is refused with the PID of its owner', async () => {
  const second = await startServer({ DATA_DIR: folder })
  expect(second).toMatchObject({ code: 1 })
  expect(second.errors).toContain(`open in process ${server.child.pid}`)
})

test('SIGTERM exits with 0, and a restart seeds nothing', async () => {
  expect(await server.stop()).toBe(0)
  await start()
  await expect.poll(server.output).toContain(keys.key)
  expect(withoutPosters(await listEvents())).toEqual(withoutPosters(listed))
})

test('wrong settings are all reported and prevent the start', async () => {
  const ended = await startServer({
    PORT: 'http',
    HOLD_MINUTES: '0',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
  })
  expect(ended).toMatchObject({ code: 1, output: '' })
  for (const name of ['PORT', 'HOLD_MINUTES', 'DATABASE_URL']) expect(ended.errors).toContain(name)
  expect(ended.errors).not.toContain('hunter2')
})
