import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDemo } from '../../examples/shop/src/demo/open-demo.ts'

// Cases without a demo. One with it runs in a process of its own, in test/long/server.test.ts.

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'boxoffice-open-demo-'))
})
afterAll(() => rm(dataDir, { recursive: true }))

const asked: string[] = []
const host = {
  isEmpty: false,
  async command(...args: string[]): Promise<never> {
    asked.push(args.slice(0, 3).join(' '))
    throw new Error('There is no organization org_demo_luna.')
  },
}

test('beside another catalogue there is no demo, and nothing is imported', async () => {
  expect(await openDemo({ ...host, dataDir })).toBe(null)
  expect(asked).toEqual(['key issue channel'])
  expect(await readdir(dataDir)).toEqual([])
})

test('keys in a damaged file are not issued again unasked', async () => {
  const file = join(dataDir, 'demo.json')
  await writeFile(file, '{')
  await expect(openDemo({ ...host, dataDir })).rejects.toThrow(
    `${file} is damaged: delete it to get new demo keys`,
  )
})
