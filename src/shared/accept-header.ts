/** Reads a header such as `Accept`: its items in lower case, each with its weight from 0 to 1, or 0 for one that is none
 *  (RFC 9110, 12.4.2), and its parameters. */
export const readAcceptHeader = (header = '') =>
  header
    .toLowerCase()
    .split(',')
    .map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
      const parameterOf = (parameter: string) =>
        parameters.find((given) => given.startsWith(`${parameter}=`))?.slice(parameter.length + 1)
      const quality = Number(parameterOf('q') ?? 1)
      return { name, quality: quality >= 0 && quality <= 1 ? quality : 0, parameterOf }
    })
