import { parseArgs } from 'node:util'

export const USAGE = `usage: remexec-conformance-record --listen HOST:PORT --upstream grpc://HOST:PORT [options] OUT

Stands between a client and a server, and writes what they said to the folder OUT when it is told to stop (SIGINT,
SIGTERM). Start with an empty server, and put salt-0000000000000000 into the sources: a replay puts its own there.

  --client NAME           the client and its release, e.g. "Bazel 4.2.3"
  --summary TEXT          what the client does, in a sentence
  --break-upload BYTES    break off the first upload of more bytes than this, once
  --max-bytes BYTES       give up when more than this went through (default: 67108864)

exit code: 0 when the session was written, 1 when it could not be, 2 when the arguments are wrong
`

export interface RecordSettings {
  readonly listen: { readonly host: string; readonly port: number }
  readonly upstream: string
  readonly out: string
  readonly client: string
  readonly summary: string
  readonly breakUploadBytes: number | undefined
  readonly maxBytes: number
}

export class ArgumentError extends Error {
  override readonly name = 'ArgumentError'
}

/** Throws an ArgumentError that says what is wrong. */
export const settingsOf = (args: readonly string[]): RecordSettings | 'help' => {
  const { values, positionals } = parsed(args)
  if (values.help) return 'help'
  const [out] = positionals
  if (out === undefined || positionals.length > 1) throw new ArgumentError('expected one folder to write to')
  return {
    listen: hostPort('--listen', values.listen, /^()(\[[^\]]+\]|[^:]*):(\d+)$/),
    upstream: upstreamOf(values.upstream),
    out,
    client: values.client,
    summary: values.summary,
    breakUploadBytes:
      values['break-upload'] === undefined ? undefined : bytes('--break-upload', values['break-upload']),
    maxBytes: bytes('--max-bytes', values['max-bytes']),
  }
}

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        listen: { type: 'string' },
        upstream: { type: 'string' },
        client: { type: 'string', default: 'unnamed' },
        summary: { type: 'string', default: '' },
        'break-upload': { type: 'string' },
        'max-bytes': { type: 'string', default: String(64 << 20) },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error))
  }
}

const hostPort = (option: string, text: string | undefined, form: RegExp): { host: string; port: number } => {
  const [, , host, port] = form.exec(text ?? '') ?? []
  if (host === undefined || Number(port) > 65_535) {
    throw new ArgumentError(`${option} ${text ?? '(absent)'}: expected HOST:PORT`)
  }
  return { host: host.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port) }
}

const upstreamOf = (text: string | undefined): string => {
  if (text === undefined || !/^grpc:\/\/(\[[^\]]+\]|[^:/]+):\d{1,5}\/?$/.test(text)) {
    throw new ArgumentError(`--upstream ${text ?? '(absent)'}: expected grpc://HOST:PORT`)
  }
  return text.replace(/^grpc:/, 'http:').replace(/\/$/, '')
}

const bytes = (option: string, text: string): number => {
  if (!/^\d{1,12}$/.test(text)) throw new ArgumentError(`${option} ${text}: expected a number of bytes`)
  return Number(text)
}
