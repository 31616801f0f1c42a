// Parts between separators, which mean nothing within a quoted text (RFC 9110, 5.6.4).
const items = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g
const parts = /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g

const unquoted = (text: string) =>
  text.startsWith('"') ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text

/** Reads a header such as `Accept`, or `Content-Type`, which has one item: its items in lower case, each with its weight
 *  from 0 to 1, or 0 for one that is none (RFC 9110, 12.4.2), and its charset, which is `utf-8` unless it names another. */
export const readAcceptHeader = (header = '') =>
  (header.toLowerCase().match(items) ?? []).map((item) => {
    const [name = '', ...parameters] = (item.match(parts) ?? []).map((part) => part.trim())
    const read = (parameter: string) => {
      const given = parameters.find((text) => text.split('=', 1)[0]?.trim() === parameter)
      return given && unquoted(given.slice(given.indexOf('=') + 1).trim())
    }
    const quality = Number(read('q') ?? 1)
    const charset = read('charset') ?? 'utf-8'
    return {
      name,
      quality: quality >= 0 && quality <= 1 ? quality : 0,
      charset: charset === 'utf8' ? 'utf-8' : charset,
    }
  })
