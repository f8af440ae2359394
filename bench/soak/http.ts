import { type ClientRequest, type IncomingMessage, request } from 'node:http'

export interface HttpCall {
  readonly method: string
  readonly path: string
  readonly body?: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpAnswer {
  readonly status: number
  readonly body: Buffer
}

/** Sends the head of a request on a connection of its own. Its failures are those of the act that cuts it. */
export const begin = (port: number, { method, path, headers = {} }: HttpCall): ClientRequest => {
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false })
  sent.on('error', () => {})
  return sent
}

/** The head of the answer; its body has not been read. */
export const answerOf = (sent: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('close', () => reject(new Error(`${sent.method} ${sent.path} had no answer`)))
  })

/** Resolves once its connection is gone, however it ended. */
export const closed = (sent: ClientRequest): Promise<void> =>
  new Promise((resolve) => {
    if (sent.closed) resolve()
    else sent.once('close', () => resolve())
  })

const bodyOf = async (answer: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** A whole request and its answer. */
export const ask = async (port: number, call: HttpCall): Promise<HttpAnswer> => {
  const sent = begin(port, call)
  const answered = answerOf(sent)
  sent.end(call.body)
  const answer = await answered
  return { status: answer.statusCode ?? 0, body: await bodyOf(answer) }
}

/** Reads the rest of an answer whose head was read before. */
export const rest = bodyOf
