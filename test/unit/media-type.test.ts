import { expect, test } from 'vitest'
import { chooseMediaType } from '../../src/engine/http/media-type.ts'

const json = 'application/json'
const response = 'application/graphql-response+json'

test.each([
  [undefined, json],
  ['', json],
  ['*/*', json],
  [json, json],
  [response, response],
  ['application/*', json],
  ['APPLICATION/JSON', json],
  [`${response}, ${json}`, response],
  [`${json}, ${response}`, json],
  [`${response};q=0.5, ${json}`, json],
  [`${json};q=0.5, ${response};q=0.6`, response],
  [`${response};charset=utf-8, ${json};charset=utf-8`, response],
  [`*/*, ${response}`, json],
  [`${response}, */*;q=0.1`, response],
  [`${json};q=0, */*`, response],
  [`multipart/mixed;deferSpec=20220824, ${json}`, json],
  [`text/event-stream, ${response}`, response],
  ['text/html,application/xhtml+xml,*/*;q=0.8', json],
  ['multipart/mixed', null],
  ['text/event-stream', null],
  ['text/html', null],
  ['image/png, multipart/mixed', null],
  [`${json};q=0`, null],
  [`${json};q=0, ${response};q=0`, null],
  ['*/*;q=0', null],
  [`${json};charset=latin1`, null],
  [`${json};q=nonsense`, null],
  ['nonsense', null],
  [',;,=', null],
])('Accept %j selects %s', (accept, mediaType) => {
  expect(chooseMediaType(accept)).toBe(mediaType)
})
