import { readFileSync } from 'node:fs'

const packageFile = new URL('../../../package.json', import.meta.url)

/** Name and version of the service, as its package has them. */
export const service: { name: string; version: string } = JSON.parse(readFileSync(packageFile, 'utf8'))
