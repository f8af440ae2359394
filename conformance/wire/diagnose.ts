import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Patience } from './patience.js'
import { oneLine, type Target, TargetError } from './target.js'

/** How long each step may take, multiplied by the patience of the run. */
const STEP_MS = 5_000
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
const SETTINGS_FRAME = 4
const TLS_ALERT = 0x15

/**
 * Opens an HTTP/2 connection and inspects the bytes that come back, because a gRPC library reports only "unavailable".
 * Throws a TargetError that says what answered, if it is not HTTP/2.
 */
export const diagnose = async (target: Target, patience: Patience): Promise<void> => {
  const limitMs = patience.scaledMs(STEP_MS)
  const socket = await connected(target, limitMs)
  try {
    const answer = await answerTo(socket, limitMs)
    const finding = findingOf(answer, target.isSecure, limitMs)
    if (finding !== undefined) throw new TargetError(`${target.address}: ${finding}`)
  } finally {
    socket.destroy()
  }
}

const connected = (target: Target, limitMs: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { host, port, isSecure, ca, cert, key, address } = target
    const servername = target.serverName ?? (/^[\d.]+$|:/.test(host) ? '' : host)
    const options = { host, port, servername, ALPNProtocols: ['h2'] }
    const own = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
    const refuse = (reason: string): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(new TargetError(`${address}: ${reason}`))
    }
    const timer = setTimeout(
      () => refuse(`no ${isSecure ? 'TLS handshake' : 'connection'} within ${limitMs / 1000} s`),
      limitMs,
    )
    const ready = (): void => {
      clearTimeout(timer)
      resolve(socket)
    }
    const socket = isSecure ? connectTls({ ...options, ...own }, ready) : connectTcp({ host, port }, ready)
    socket.once('error', (error) => refuse(connectionFinding(error, isSecure)))
    socket.once('close', () => refuse('the server closed the connection without sending a byte'))
  })

const connectionFinding = (error: NodeJS.ErrnoException, isSecure: boolean): string => {
  if (error.code === 'ECONNREFUSED') return 'connection refused: nothing listens there'
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') return 'the host name does not resolve'
  if (error.code === 'ERR_SSL_WRONG_VERSION_NUMBER' || error.code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return 'the server does not speak TLS there: try grpc://'
  }
  return `${isSecure ? 'TLS' : 'the connection'} failed: ${oneLine(error.message || (error.code ?? 'unknown reason'))}`
}

type Answer = { readonly bytes: Buffer; readonly end: 'data' | 'closed' | 'silence' }

const answerTo = (socket: Socket, limitMs: number): Promise<Answer> =>
  new Promise((resolve) => {
    let bytes = Buffer.alloc(0)
    const end = (how: Answer['end']): void => {
      clearTimeout(timer)
      resolve({ bytes, end: how })
    }
    const timer = setTimeout(() => end('silence'), limitMs)
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      if (bytes.length >= EMPTY_SETTINGS.length) end('data')
    })
    // An error only says that the connection ended.
    socket.on('error', () => {})
    socket.once('close', () => end('closed'))
    socket.write(Buffer.concat([PREFACE, EMPTY_SETTINGS]))
  })

/** The obstacle, or undefined if the answer opens an HTTP/2 connection. */
const findingOf = ({ bytes, end }: Answer, isSecure: boolean, limitMs: number): string | undefined => {
  const protocol = isSecure ? 'HTTP/2 over TLS' : 'plaintext HTTP/2'
  if (bytes.length >= EMPTY_SETTINGS.length && bytes[3] === SETTINGS_FRAME) return undefined
  if (bytes.subarray(0, 5).toString('latin1') === 'HTTP/') {
    return `an HTTP/1 server answers there, not gRPC: ${oneLine(bytes.toString('latin1').split('\r\n')[0] ?? '')}`
  }
  if (bytes[0] === TLS_ALERT && bytes[1] === 3) return 'the server wants TLS: try grpcs://'
  if (bytes.length > 0) return `the server does not speak ${protocol}: it sent ${shown(bytes)}`
  if (end === 'closed')
    return `the server closed the connection after the preface of ${protocol}${isSecure ? '' : ': try grpcs://'}`
  return `the server accepts connections and does not answer: no ${protocol} within ${limitMs / 1000} s`
}

const shown = (bytes: Buffer): string =>
  JSON.stringify(
    bytes
      .subarray(0, 24)
      .toString('latin1')
      .replaceAll(/[^\x20-\x7e]/g, '.'),
  )
