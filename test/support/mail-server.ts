import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export type MailServer = {
  url: string
  /** What was handed in, in its order. */
  mails: { to: string[]; mail: Email }[]
  /** What is answered to each recipient; null to take the mail. */
  answer: (recipient: string) => number | null
  /** Is told of each mail before its sender is. */
  onMail: () => void
  close(): Promise<void>
}

/** A mail server on the loopback, on a port of its own or on one that was free. */
export async function startMailServer(port = 0): Promise<MailServer> {
  const mails: MailServer['mails'] = []
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onRcptTo({ address }, _session, callback) {
      const code = server.answer(address)
      callback(code === null ? null : Object.assign(new Error(`No ${address} here`), { responseCode: code }))
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
    onMail: () => {},
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
  return server
}

/** The properties of a calendar's event, their parameters left out. */
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
