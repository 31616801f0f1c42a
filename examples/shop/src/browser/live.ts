import type { TypedDocumentString } from './documents.ts'
import { headersOf, pause } from './gateway.ts'

// GraphQL over server-sent events, one connection per operation. EventSource cannot send the key's header, so
// that the stream is read by fetch.

// The gateway writes a comment at least every 15 s: a connection that is silent for longer is dead.
const silenceMs = 45_000
const backoff = { firstMs: 500, maxMs: 30_000 }

type Message = { event: string; data: string }

/** Splits a stream of bytes into messages. */
async function* messagesOf(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<Message> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      onBytes()
      const parts = (rest + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) yield toMessage(part)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function toMessage(part: string): Message {
  const valuesOf = (name: string) =>
    part
      .split('\n')
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trimStart())
  return { event: valuesOf('event')[0] ?? '', data: valuesOf('data').join('\n') }
}

type Follower<Data> = {
  onData(data: Data): void
  /** Called when the stream opens, and when it is lost. */
  onState(isLive: boolean): void
  signal: AbortSignal
}

async function listen<Data>(body: string, { onData, onState, signal }: Follower<Data>): Promise<void> {
  const silence = new AbortController()
  const lose = () => silence.abort()
  addEventListener('offline', lose)
  let timer = setTimeout(lose, silenceMs)
  const onBytes = () => {
    clearTimeout(timer)
    timer = setTimeout(lose, silenceMs)
  }
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: headersOf('text/event-stream'),
      body,
      signal: AbortSignal.any([signal, silence.signal]),
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!response.ok || !isStream || !response.body) throw new Error(`no stream: ${response.status}`)
    for await (const { event, data } of messagesOf(response.body, onBytes)) {
      if (event === 'complete') return
      if (event !== 'next') continue
      const answer = JSON.parse(data) as { data?: Data }
      if (!answer.data) throw new Error('the stream has errors')
      onState(true)
      onData(answer.data)
    }
  } finally {
    clearTimeout(timer)
    removeEventListener('offline', lose)
  }
}

/** Follows a subscription until the signal is aborted. A lost connection is opened again, after a pause that
 *  doubles up to half a minute, and is shorter by chance, so that not everybody returns at once. */
export async function follow<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  follower: Follower<Data>,
): Promise<void> {
  const { signal, onState } = follower
  let pauseMs = backoff.firstMs
  const onData = (data: Data) => {
    pauseMs = backoff.firstMs
    follower.onData(data)
  }
  while (!signal.aborted) {
    await listen(JSON.stringify({ query: document, variables }), { ...follower, onData }).catch(() => {})
    if (signal.aborted) return
    onState(false)
    await pause(pauseMs * (0.5 + Math.random() / 2), signal).catch(() => {})
    pauseMs = Math.min(pauseMs * 2, backoff.maxMs)
  }
}
