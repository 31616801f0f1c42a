import type { SchemaTypes } from '@pothos/core'
import type { IntegrationScope } from '../../domain/caller/api-key.ts'
import type { Context, Needs } from '../../domain/caller/context.ts'
import type { CreateContextWith } from '../../domain/caller/prefetch.ts'
import type { Loader } from '../data/loader.ts'
import type { LoaderDefinition } from '../request/loaders.ts'

/** Facts of a subscription that decide how its events are sent. */
export type Streaming<Event> = {
  /** Names what an event is the latest state of. Subscribers of the same operation then share its events, and
   *  a state that comes late replaces those before it. Without it each subscriber has a stream of its own, and
   *  gets every event. */
  latestBy?(event: Event): string
  /** Returns the identifier of an event in the stream, which a client sends as `Last-Event-ID` to go on. */
  eventIdOf?(event: Event): string
}

/** What a root field needs: its extension `needs`, which the server enforces. */
export type FieldNeeds = Needs & {
  stream?: Streaming<never>
  /** Row to read together with the caller's key, where the field is alone in its operation: what reads it, and where
   *  the arguments have its identifier. They are not validated yet, so it is a guess. */
  prefetch?: { context: CreateContextWith; idAt: [argument: string, ...fields: (string | number)[]] }
}

/** What a type needs: its extension `needs`. Fields but those of `except` are nullable, and null for integrations whose
 *  key has none of the scopes, whichever edge leads to the object. */
export type TypeNeeds = { oneOf: IntegrationScope[]; except: ReadonlySet<string> }

type Row = { id: string } | null

/** How `node` finds objects of a type: its extension `node`. */
export type NodeLookup = {
  /** Prefix of the identifiers, if the service alone makes them. Imported ones have any shape. */
  prefix?: string
  scope: IntegrationScope
  /** Loader of the objects, which are null where there is none that the caller may see; or what finds them. */
  load?: LoaderDefinition<Loader<Row>>
  /** Organization of a row that its loader finds for any caller. */
  organizationOf?(row: never): string
  find?(ids: string[], ctx: Context): Promise<Row[]>
}

declare global {
  namespace PothosSchemaTypes {
    interface ObjectTypeOptions<Types extends SchemaTypes = SchemaTypes, Shape = unknown> {
      extensions?: { node?: NodeLookup; needs?: TypeNeeds }
    }
  }
}
