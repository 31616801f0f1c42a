import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, freePort, makeFolder, spawnManaged } from '../support/setup/managed-process.ts'

export type Nginx = {
  url: string
  /** Takes the configuration anew, with one of the processes marked `down`, or none. */
  reload(down: 0 | 1 | null): Promise<void>
  stop(): Promise<void>
}

const operations = new URL('../../docs/operations.md', import.meta.url)

/** The snippet for nginx that docs/operations.md shows. */
async function readSnippet(): Promise<string> {
  const [, snippet] = /^```nginx\n([\s\S]*?)^```/m.exec(await readFile(operations, 'utf8')) ?? []
  if (!snippet) throw new Error('docs/operations.md shows no snippet for nginx')
  return snippet
}

/** Replaces a text that must be there. */
function replace(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the snippet for nginx has no ${from}`)
  return text.replace(from, to)
}

/** Starts nginx (Debian's package `nginx`) by the documented snippet, with other ports and without TLS, in front of
 *  two processes of the service. `without` names a directive to leave out. */
export async function startNginx(processes: [string, string], without?: string): Promise<Nginx> {
  const program = await findProgram('nginx')
  if (!program) throw new Error('nginx is missing. Install the package nginx: apt-get install nginx')
  const folder = await makeFolder('nginx', null)
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  const documented = await readSnippet()
  const configure = async (down: 0 | 1 | null) => {
    let snippet = replace(documented, 'listen 443 ssl;', `listen 127.0.0.1:${port};`)
    for (const [index, documentedAddress] of ['127.0.0.1:4000', '127.0.0.1:4001'].entries())
      snippet = replace(
        snippet,
        documentedAddress,
        `${new URL(processes[index] ?? '').host}${index === down ? ' down' : ''}`,
      )
    if (without) snippet = replace(snippet, without, '')
    const text = `daemon off; pid nginx.pid; error_log stderr notice; ${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http { access_log off; ${temporary.join(' ')}
${snippet}
}`
    await writeFile(join(folder, 'nginx.conf'), text)
  }
  try {
    await configure(null)
    const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
    const options = { folder, user: null, signal: 'TERM', readyText: 'start worker process ' } as const
    const stop = await spawnManaged(program, args, options)
    return {
      url: `http://127.0.0.1:${port}`,
      async reload(down) {
        await configure(down)
        if (stop.pid) process.kill(stop.pid, 'SIGHUP')
      },
      stop,
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}
