import { SingleBar } from 'cli-progress'
import { instruments } from '../shared/instruments.ts'

const lineMs = 10_000

/** Shows how far the work of this process is, until the returned function is called: on a terminal as a bar with rate
 *  and time left, elsewhere as a line every ten seconds. */
export function showProgress(stream: NodeJS.WriteStream): () => void {
  const bar = new SingleBar({
    stream,
    format: '{step} [{bar}] {value} of {total}, {rate}, {eta_formatted} left',
    clearOnComplete: true,
    etaBuffer: 50,
  })
  let line = ''
  let step = ''
  let beganAt = 0
  instruments.progress = (name, done, total) => {
    if (name !== step) {
      step = name
      beganAt = performance.now()
      bar.stop()
      if (stream.isTTY) bar.start(total, done, { step, rate: '0/s' })
    }
    const seconds = (performance.now() - beganAt) / 1000
    const rate = `${Math.round(done / Math.max(seconds, 0.001))}/s`
    bar.update(done, { rate })
    const left = done > 0 ? `, ${Math.ceil((seconds / done) * (total - done))} s left` : ''
    line = `${step}: ${done} of ${total}, ${rate}${left}\n`
  }
  // A statement that takes long reports nothing meanwhile: the line is then repeated.
  const timer = stream.isTTY ? undefined : setInterval(() => line && stream.write(line), lineMs)
  return () => {
    clearInterval(timer)
    bar.stop()
    instruments.progress = null
  }
}
