/** What is known of an execution here, whoever else says something about it. Times are those of worker and scheduler. */
export interface ExecutionFacts {
  /** Undefined if the command did not end. */
  readonly exitCode: number | undefined
  /** The name of the worker; empty if none ran it. */
  readonly worker: string
  /** 0 if nobody said it. */
  readonly queuedMs: number
  readonly endedMs: number
  /** In the queue, for its inputs, as a command and for its outputs; undefined for a step that nobody timed. */
  readonly queueMs: number | undefined
  readonly fetchMs: number | undefined
  readonly runMs: number | undefined
  readonly uploadMs: number | undefined
  /** The key of the digest of the response that is kept for pages. */
  readonly response: string | undefined
  /** The reason of a failure in words; of a longer one its begin. */
  readonly message: string | undefined
  /** The caller; undefined if access is not restricted. */
  readonly identity: string | undefined
}

const MAX_MESSAGE = 160
const MAX_WORKER = 80
const MAX_IDENTITY = 200

/** One line of ASCII: numbers and encoded texts, separated by blanks. */
export const executionLine = (facts: ExecutionFacts): string => {
  const { exitCode, worker, queuedMs, endedMs, queueMs, fetchMs, runMs, uploadMs } = facts
  const { response = '', message = '', identity } = facts
  const numbers = [exitCode, queuedMs, endedMs, queueMs, fetchMs, runMs, uploadMs]
  const by = identity === undefined ? '' : `=${encoded(identity, MAX_IDENTITY)}`
  const texts = [encoded(worker, MAX_WORKER), response, encoded(message, MAX_MESSAGE), by]
  return [...numbers.map((number) => (number === undefined ? '' : String(Math.round(number)))), ...texts].join(' ')
}

export const executionIn = (line: string): ExecutionFacts => {
  const [exitCode, queuedMs, endedMs, queueMs, fetchMs, runMs, uploadMs, ...texts] = line.split(' ')
  const [worker, response, message, by = ''] = texts
  return {
    exitCode: numberIn(exitCode),
    worker: decodeURIComponent(worker ?? ''),
    queuedMs: numberIn(queuedMs) ?? 0,
    endedMs: numberIn(endedMs) ?? 0,
    queueMs: numberIn(queueMs),
    fetchMs: numberIn(fetchMs),
    runMs: numberIn(runMs),
    uploadMs: numberIn(uploadMs),
    response: response || undefined,
    message: decodeURIComponent(message ?? '') || undefined,
    identity: by === '' ? undefined : decodeURIComponent(by.slice(1)),
  }
}

const numberIn = (text = ''): number | undefined => (text === '' ? undefined : Number(text))

/** Half a pair of surrogates, which cannot be encoded, is replaced. */
const encoded = (text: string, max: number): string => encodeURIComponent(Buffer.from(text.slice(0, max)).toString())
