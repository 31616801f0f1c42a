import type { FastifyInstance } from 'fastify'
import type { FindExampleValues } from '../domain/contract/ids.ts'
import type { Link } from './home.ts'

/** Companion of the service in its process, such as a shop on a catalogue to try it with. */
export type Companion = {
  /** Link on the home page. */
  link: Link
  /** Finds what fills the tabs of GraphiQL and the examples of the REST documentation, in place of placeholders. */
  findExamples?: FindExampleValues
  /** Adds its routes to those of the service. */
  addTo(app: FastifyInstance, publicUrl: () => string): Promise<void>
  /** Called with the public address once the service listens. */
  onListening?(app: FastifyInstance, publicUrl: string): Promise<void>
}

/** Service as a companion finds it, before anything is served. */
export type Host = {
  dataDir: string
  /** True if no catalogue was imported. */
  isEmpty: boolean
  /** Runs a command of the command line on the database that is served, and returns what it prints with `--json`. */
  command<Printed>(...args: string[]): Promise<Printed>
}

/** Opens a companion; null if there is nothing to put beside this database. */
export type OpenCompanion = (host: Host) => Promise<Companion | null>
