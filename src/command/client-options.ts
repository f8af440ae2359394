import { readFileSync } from 'node:fs'
import { inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { adviceFor } from '../client/advice.js'
import type { RemoteServer } from '../client/connect.js'
import type { Target } from '../client/target.js'
import { parseEndpoint } from '../config/value/address.js'
import { Digest } from '../reapi/digest.js'
import { type DigestFunctionName, digestFunctions } from '../reapi/digest-function.js'
import { type Arguments, type Console, type OptionTypes, textOption, UsageError } from './command.js'

/** The options of every command that talks to a server. */
export const CLIENT_OPTIONS: OptionTypes = {
  server: { type: 'string', short: 's' },
  instance: { type: 'string' },
  'token-file': { type: 'string' },
  header: { type: 'string', multiple: true },
  ca: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
  'digest-function': { type: 'string' },
}

export const DEFAULT_ADDRESS = 'grpc://127.0.0.1:50051'

export const CLIENT_DETAILS: readonly (readonly [string, string])[] = [
  ['-s, --server ADDRESS', `any server of the API, grpc:// or grpcs:// (default ${DEFAULT_ADDRESS})`],
  ['--instance NAME', 'the instance (default: the one without a name)'],
  ['--token-file FILE', 'send the token in FILE; else that of REMEXEC_TOKEN, if set'],
  ['--header NAME=VALUE', 'send this metadata too; may be repeated'],
  ['--ca FILE', 'trust the authorities in FILE instead of those of this machine'],
  ['--cert FILE --key FILE', 'show this client certificate'],
  ['--digest-function NAME', `${Object.keys(digestFunctions).join(', ')} (default SHA256)`],
]

/** Connects to the server that the options name, and closes the connection after `work`. */
export const withServer = async <T>(
  args: Arguments,
  { secrets }: Console,
  work: (server: RemoteServer) => Promise<T>,
  address = textOption(args, 'server') ?? DEFAULT_ADDRESS,
): Promise<T> => {
  const target = targetOf(args, address)
  secrets.learn(Object.values(target.headers))
  // Imported here, because other commands do not need the clients of stores.
  const { connect } = await import('../client/connect.js')
  const server = await connect(target, secrets)
  try {
    return await work(server)
  } catch (error) {
    throw withAdvice(address, error)
  } finally {
    await server.close()
  }
}

export const withAdvice = (address: string, error: unknown): unknown => {
  const advice = adviceFor(error)
  if (advice === undefined || !(error instanceof StatusError)) return error
  return new StatusError(error.code, `${address}: ${error.message}; ${advice}`, { cause: error })
}

export const targetOf = (args: Arguments, address: string): Target => {
  const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => textOption(args, name))
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--cert and --key belong together')
  let isSecure: boolean
  try {
    isSecure = parseEndpoint(address).isSecure
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--server ${address}: ${error.message}`)
    throw error
  }
  if (!isSecure && (ca ?? cert) !== undefined) throw new UsageError('--ca and --cert need an address with grpcs://')
  return {
    address,
    instanceName: textOption(args, 'instance') ?? '',
    digestFunction: functionOf(args),
    headers: { ...tokenOf(args), ...headersOf(args) },
    tls: { ...(ca && { caFile: ca }), ...(cert && { certFile: cert }), ...(key && { keyFile: key }) },
  }
}

const functionOf = (args: Arguments) => {
  const name = (textOption(args, 'digest-function') ?? 'SHA256').toUpperCase()
  if (Object.hasOwn(digestFunctions, name)) return digestFunctions[name as DigestFunctionName]
  throw new UsageError(`--digest-function ${name}: expected one of ${Object.keys(digestFunctions).join(', ')}`)
}

const tokenOf = (args: Arguments): Record<string, string> => {
  const path = textOption(args, 'token-file')
  const token = path === undefined ? process.env['REMEXEC_TOKEN'] : readToken(path)
  return token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` }
}

const readToken = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`--token-file ${path}: ${inWords(error)}`)
  }
}

const headersOf = ({ options }: Arguments): Record<string, string> =>
  Object.fromEntries(
    ([options['header'] ?? []].flat() as string[]).map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw new UsageError(`--header ${text}: expected NAME=VALUE`)
      return [text.slice(0, at).toLowerCase(), text.slice(at + 1)]
    }),
  )

/** `HASH-SIZE` or `HASH/SIZE`, as logs and Bazel print it. */
export const parseDigest = (text: string, { digestFunction }: Target): Digest => {
  const [, hash = '', size = ''] = /^([0-9a-fA-F]+)[-/](\d+)$/.exec(text) ?? []
  if (hash.length !== digestFunction.hexLength)
    throw new UsageError(`${text}: expected HASH-SIZE or HASH/SIZE of ${digestFunction.name}, such as ${EXAMPLE}`)
  return Digest.parse({ hash: hash.toLowerCase(), sizeBytes: Number(size) }, digestFunction)
}

const EXAMPLE = 'e3b0...b855-0'
