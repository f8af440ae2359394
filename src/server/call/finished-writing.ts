import type { ResponseStream } from './response-stream.js'

/** Resolves when the client's side has everything. Rejects if the stream ends before. */
export const finishedWriting = (stream: ResponseStream): Promise<void> =>
  new Promise((resolve, reject) => {
    if (stream.writableFinished) resolve()
    else if (stream.destroyed) reject(stream.errored ?? closedEarly())
    else {
      stream.once('finish', resolve).on('error', reject)
      stream.once('close', () => {
        if (!stream.writableFinished) reject(closedEarly())
      })
      stream.end()
    }
  })

const closedEarly = (): Error => new Error('the handler closed its responses before everything was written')
