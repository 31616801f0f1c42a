import type { FastifyInstance } from 'fastify'
import { demoEvents, posterPath } from '../demo/catalogue.ts'
import { type File, sendFile, toFile } from '../files.ts'
import { drawPoster } from './draw-poster.ts'

// Posters by number, from 0, drawn when they are first asked for. There are as many as the demo has events.
function posterCache(): (name: string) => Promise<File> | null {
  const drawn = new Map<number, Promise<File>>()
  return (name) => {
    const n = Number(/^evt_demo_(\d{1,3})\.svg$/.exec(name)?.[1] ?? 0) - 1
    if (n < 0 || n >= demoEvents) return null
    const known = drawn.get(n)
    if (known) return known
    const poster = drawPoster(n).then((svg) => toFile('image/svg+xml', svg))
    drawn.set(n, poster)
    // A failed drawing is tried again by the next request.
    poster.catch(() => drawn.delete(n))
    return poster
  }
}

/** Adds the posters of the demo's events to an application. */
export function addPosters(app: FastifyInstance): void {
  const posterOf = posterCache()
  app.get<{ Params: { name: string } }>(`${posterPath}/:name`, async (request, reply) => {
    const poster = posterOf(request.params.name)
    if (!poster) return reply.callNotFound()
    // They are in the catalogue, for the pages of any channel.
    reply.header('cross-origin-resource-policy', 'cross-origin')
    return sendFile(request, reply, await poster)
  })
}
