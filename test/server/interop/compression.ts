import t, { type Test } from 'tap'
import { messagesIn, type WireMessage, wiretap } from '../wiretap.js'
import { clientCompressed, serverCompressed } from './cases.js'
import { serveTests } from './serve-tests.js'

const isPacked = ({ isCompressed }: WireMessage): boolean => isCompressed
const isLarge = ({ isCompressed, sizeBytes }: WireMessage): boolean => !isCompressed && sizeBytes > 200_000

/**
 * The cases with compressed messages, only over our own transport: grpc-js does not report to a server whether a
 * message was compressed, and compresses none. Few clients report it either, so the test reads the wire.
 */
export const testCompression = (
  client: string,
  options: object,
  run: (t: Test, cases: readonly string[], port: number) => Promise<void>,
): void => {
  t.test(`messages with ${client} are compressed on the wire`, options, async (t) => {
    const { port, sent, answered } = await wiretap(t, await serveTests(t, 'remexec'))
    await run(t, [...clientCompressed, ...serverCompressed], port)
    const requests = sent().flatMap(messagesIn)
    t.ok(requests.filter(isPacked).length >= 2, 'requests, of a unary call and of a stream')
    t.ok(requests.some(isLarge), 'requests that are not, beside them')
    const responses = answered().flatMap(messagesIn)
    t.equal(responses.filter(isPacked).length, 2, 'responses, of a unary call and of a stream')
    t.ok(responses.some(isLarge), 'a response that was not to be')
    const unpackedOfStream = ({ isCompressed, sizeBytes }: WireMessage): boolean =>
      !isCompressed && sizeBytes > 20_000 && sizeBytes < 200_000
    t.equal(responses.filter(unpackedOfStream).length, 1, 'and the one of a stream')
  })
}
