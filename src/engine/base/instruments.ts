// Hooks of metrics, traces and the progress of commands. All are null unless the service was started with them: code that calls them
// then pays for one comparison, and nothing is loaded. They belong to the process, as its ports do.

/** Receives numbers about the work of this process. Labels are names from the code, never a client's text. */
export type Observer = {
  /** Jobs joined a queue of batches, or left it (negative). */
  onWaiting(queue: string, change: number): void
  /** Jobs of a queue run together. */
  onBatch(queue: string, jobs: number): void
  /** Keys were looked up in a cache. */
  onCache(cache: string, hits: number, misses: number): void
  /** A background job ran for these seconds. */
  onJob(job: string, seconds: number, isOk: boolean): void
  /** A counter of the product goes up by one. */
  onCount(counter: string, labels: Record<string, string>): void
  /** Lines of the log could not be written. */
  onLogDropped(lines: number): void
}

/** Span of a request, which shared work is linked to. Opaque. */
export type Origin = object
/** Attributes of a span. Never personal data, keys or a client's text. */
type Facts = Record<string, string | number>

/** Runs work in spans. Work that belongs to no request is run without one. */
export type Tracer = {
  /** Runs work in a child of the current span. */
  inSpan<Result>(name: string, facts: Facts, work: () => Promise<Result>): Promise<Result>
  /** Returns the current span; undefined outside of a request. */
  origin(): Origin | undefined
  /** Runs work for several requests: in a child of the first one's span, with links to the others. */
  inBatch<Result>(
    name: string,
    origins: readonly (Origin | undefined)[],
    work: () => Promise<Result>,
  ): Promise<Result>
  /** Runs work that outlives its request, without a span. */
  detached<Result>(work: () => Result): Result
}

/** Told how far the work of a command is. A step has a name from the code, and ends with `done` at `total`. */
type Progress = (step: string, done: number, total: number) => void

export const instruments: {
  observer: Observer | null
  tracer: Tracer | null
  progress: Progress | null
} = { observer: null, tracer: null, progress: null }

/** Runs work in a child of the current span, if traces are on. */
export const inSpan = <Result>(name: string, facts: Facts, work: () => Promise<Result>): Promise<Result> =>
  instruments.tracer?.inSpan(name, facts, work) ?? work()
