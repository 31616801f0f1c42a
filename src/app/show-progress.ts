import { SingleBar } from 'cli-progress'
import { instruments } from '../engine/base/instruments.ts'

const lineMs = 10_000

/** Shows how far the work of this process is, until the returned function is called: on a terminal as a bar, elsewhere as
 *  a line every ten seconds; with rate and time left as soon as they can be told. */
export function showProgress(stream: NodeJS.WriteStream): () => void {
  const bar = new SingleBar({
    stream,
    format: '{step} [{bar}] {value} of {total}{figures}',
    clearOnComplete: true,
  })
  let step = ''
  let done = 0
  let total = 0
  let beganAt = 0
  function figures(): string {
    const seconds = (performance.now() - beganAt) / 1000
    if (done === 0 || seconds < 1) return ''
    const [rate, left] = [Math.round(done / seconds), Math.ceil((seconds / done) * (total - done))]
    return `${rate > 0 ? `, ${rate}/s` : ''}${left > 0 ? `, ${left} s left` : ''}`
  }
  instruments.progress = (...given) => {
    const isNew = given[0] !== step
    ;[step, done, total] = given
    if (isNew) {
      beganAt = performance.now()
      bar.stop()
      if (stream.isTTY) bar.start(total, done, { step, figures: '' })
    }
    bar.update(done, { figures: figures() })
  }
  // A statement that takes long reports nothing meanwhile: the line is then repeated.
  const writeLine = () => step && stream.write(`${step}: ${done} of ${total}${figures()}\n`)
  const timer = stream.isTTY ? undefined : setInterval(writeLine, lineMs)
  return () => {
    clearInterval(timer)
    bar.stop()
    instruments.progress = null
  }
}
