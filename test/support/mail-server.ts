import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export type MailServer = {
  url: string
  /** Received mails, in order. */
  mails: { to: string[]; mail: Email }[]
  /** Returns the SMTP error code for a recipient, or null to accept the mail. */
  answer: (recipient: string) => number | null
  /** Returns the SMTP error code for the sender, or null to go on. */
  answerSender: () => number | null
  /** Called for each mail before the sender gets its response. */
  onMail: () => void
  close(): Promise<void>
}

const refuse = (code: number | null, words: string) =>
  code === null ? null : Object.assign(new Error(words), { responseCode: code })

/** Starts a mail server on the loopback, on the given port or on a free one. With `login` it takes that user and password
 *  alone. */
export async function startMailServer(
  port = 0,
  login?: { user: string; password: string },
): Promise<MailServer> {
  const mails: MailServer['mails'] = []
  const smtp = new SMTPServer({
    disabledCommands: login ? ['STARTTLS'] : ['AUTH', 'STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, callback) {
      const isTheirs = username === login?.user && password === login?.password
      callback(refuse(isTheirs ? null : 535, 'Wrong password'), isTheirs ? { user: username } : undefined)
    },
    onMailFrom(_address, _session, callback) {
      callback(refuse(server.answerSender(), 'No sender'))
    },
    disableReverseLookup: true,
    closeTimeout: 100,
    onRcptTo({ address }, _session, callback) {
      callback(refuse(server.answer(address), `No ${address} here`))
    },
    onData(stream, { envelope }, callback) {
      text(stream)
        .then(async (source) => {
          const mail = await PostalMime.parse(source)
          mails.push({ to: envelope.rcptTo.map(({ address }) => address), mail })
          server.onMail()
          callback()
        })
        .catch(callback)
    },
  })
  smtp.on('error', () => {})
  const listener = smtp.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  const server: MailServer = {
    url: `smtp://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    mails,
    answer: () => null,
    answerSender: () => null,
    onMail: () => {},
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
  return server
}

/** Parses the properties of a calendar's event, without their parameters. */
export const calendarEvent = (calendar: string): Record<string, string> =>
  Object.fromEntries(
    calendar
      .replace(/\r\n/g, '\n')
      .replace(/\n[ \t]/g, '')
      .replace(/^.*BEGIN:VEVENT\n|END:VEVENT.*$/gs, '')
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [, name = '', value = ''] = /^([A-Z-]+)[^:]*:(.*)$/.exec(line) ?? []
        return [name, value.replace(/\\n/g, '\n').replace(/\\([,;\\])/g, '$1')]
      }),
  )
