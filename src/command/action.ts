import { decimalSize } from '../base/decimal-size.js'
import { orAbsent, StatusError } from '../base/status-error.js'
import { getBytes } from '../blobs/store.js'
import type { Operation, RemoteServer } from '../client/connect.js'
import { readAction, readCommand } from '../content/action.js'
import { unpack } from '../proto/any.js'
import { codec, type Output } from '../proto/codec.js'
import { errorOf } from '../proto/error-details.js'
import { toMs } from '../proto/time.js'
import { Digest } from '../reapi/digest.js'
import { requestedProperties } from '../reapi/platform.js'
import { originOf } from '../reapi/result-origin.js'
import { internalCall } from '../rpc/call.js'
import { CLIENT_DETAILS, CLIENT_OPTIONS, DEFAULT_ADDRESS, parseDigest, withServer } from './client-options.js'
import { type Command, type Console, textOption, UsageError } from './command.js'
import { actionNamed, pageIn } from './pages-target.js'

const REAPI = 'build.bazel.remote.execution.v2'
const resultCodec = codec(`${REAPI}.ActionResult`)
const responseCodec = codec(`${REAPI}.ExecuteResponse`)
const metadataCodec = codec(`${REAPI}.ExecuteOperationMetadata`)

type ActionResult = Output<typeof RESULT>
const RESULT = `${REAPI}.ActionResult` as const

/** A larger result does not fit in a message. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024
/** Output of an action that is printed. */
const MAX_SHOWN_BYTES = 1024 * 1024

export const action: Command = {
  name: 'action',
  usage: [
    ['show ACTION', 'print the command, environment, inputs and stored result of an action of a server'],
    ['run ACTION [--skip-cache]', 'execute it again, and print its stages and its output'],
  ],
  details: [
    ['ACTION', 'its digest HASH-SIZE, the address of its page, or the first 8 or more digits of its hash'],
    ['--skip-cache', 'with run: do not take a stored result'],
    ...CLIENT_DETAILS,
  ],
  options: { ...CLIENT_OPTIONS, 'skip-cache': { type: 'boolean' } },
  run: async (args, console) => {
    const [verb, text, ...more] = args.words
    if ((verb !== 'show' && verb !== 'run') || text === undefined || more.length > 0)
      throw new UsageError('expected show or run, and one ACTION')
    const named = await actionNamed(args, console, text)
    const asked = named === undefined ? args : { ...args, options: { ...args.options, instance: named.instance } }
    const address = textOption(args, 'server') ?? pageIn(text)?.address ?? DEFAULT_ADDRESS
    return withServer(
      asked,
      console,
      (server) => {
        const digest = digestNamed(named?.action, text, server)
        return verb === 'show'
          ? show(server, digest, console)
          : run(server, digest, args.options['skip-cache'] === true, console)
      },
      address,
    )
  },
}

/** A key has the name of its digest function, unless that is SHA256. */
const digestNamed = (key: string | undefined, text: string, { target }: RemoteServer): Digest =>
  (key === undefined ? undefined : Digest.ofKey(key)) ?? parseDigest(text, target)

const call = internalCall()

const show = async (server: RemoteServer, digest: Digest, { print }: Console): Promise<number> => {
  const { cas, target } = server
  const action = await readAction(cas, digest, call)
  const command = await readCommand(
    cas,
    Digest.parse(action.commandDigest, target.digestFunction, 'command_digest'),
    call,
  )
  const root = action.inputRootDigest
  const lines = [
    `command    ${command.arguments.map(quoted).join(' ')}`,
    ...(command.workingDirectory === '' ? [] : [`in         ${command.workingDirectory}`]),
    ...command.environmentVariables.map(({ name, value }) => `env        ${name}=${quoted(value)}`),
    ...requestedProperties(action, command).map(({ name, value }) => `platform   ${name}=${value}`),
    ...[...command.outputPaths, ...command.outputFiles, ...command.outputDirectories].map(
      (path) => `output     ${path}`,
    ),
    ...(action.timeout === null ? [] : [`timeout    ${toMs(action.timeout) / 1000} s`]),
    ...(action.doNotCache ? ['cached     never (do_not_cache)'] : []),
    ...(root === null ? [] : [`inputs     ${root.hash}-${root.sizeBytes}  (remexec cas tree)`]),
  ]
  print(`${lines.join('\n')}\n`)
  const result = await storedResult(server, digest)
  print(result === undefined ? 'result     none stored\n' : resultText(result))
  return 0
}

const storedResult = async ({ actionCache }: RemoteServer, digest: Digest): Promise<ActionResult | undefined> => {
  const bytes = await orAbsent(getBytes(actionCache, digest.asKey(), MAX_RESULT_BYTES, call))
  return bytes && resultCodec.decode(bytes)
}

const resultText = (result: ActionResult): string => {
  const { exitCode, executionMetadata: ran, outputFiles, outputDirectories, outputSymlinks } = result
  const lines = [
    `result     exit code ${exitCode}${ran?.worker ? `, by worker ${ran.worker}` : ''}`,
    ...originLines(result),
    ...outputFiles.map(({ path, digest }) => `file       ${path}  ${keyOf(digest)}`),
    ...outputDirectories.map(({ path, treeDigest }) => `directory  ${path}  ${keyOf(treeDigest)} (a Tree)`),
    ...outputSymlinks.map(({ path, target }) => `symlink    ${path} -> ${target}`),
    ...outputLine('stdout', result.stdoutRaw, result.stdoutDigest),
    ...outputLine('stderr', result.stderrRaw, result.stderrDigest),
  ]
  return `${lines.join('\n')}\n`
}

/** Who asked for it or gave it, and where it ran, if this caller may see that. */
const originLines = (result: ActionResult): string[] => {
  const origin = originOf(result)
  if (origin === undefined) return []
  const { identity, workerId = '', scope = '', isConfined = false } = origin
  const where = workerId === '' ? 'a client gave it' : `ran on ${workerId}, ${isConfined ? 'confined' : 'not confined'}`
  const { process = '', processRequest = 0 } = origin
  const within = process === '' ? '' : `, as request ${processRequest} of persistent worker ${process}`
  return [`origin     ${identity || 'not known'}${scope === '' ? '' : `, scope ${scope}`}; ${where}${within}`]
}

const outputLine = (name: string, raw: Buffer, digest: ActionResult['stdoutDigest']): string[] => {
  if (digest !== null) return [`${name}     ${keyOf(digest)}`]
  return raw.length === 0 ? [] : [`${name}     ${decimalSize(raw.length)}, in the result`]
}

const keyOf = (digest: ActionResult['stdoutDigest']): string =>
  digest === null ? '-' : `${digest.hash}-${digest.sizeBytes}`

/** A word of a command line, as a shell reads it. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** Executes the action; the exit status is 0 if it succeeded. Its output goes to the same streams here. */
const run = async (server: RemoteServer, digest: Digest, skipsCache: boolean, console: Console): Promise<number> => {
  const beganMs = performance.now()
  const say = (text: string): void => {
    console.errors.write(`${((performance.now() - beganMs) / 1000).toFixed(1).padStart(6)} s  ${text}\n`)
    console.errors.flush()
  }
  let stage = -1
  const request = {
    actionDigest: digest.toMessage(),
    skipCacheLookup: skipsCache,
    inlineStdout: true,
    inlineStderr: true,
  }
  for await (const operation of server.execute(request, call)) {
    const now = operation.metadata === null ? 0 : unpack(metadataCodec, operation.metadata).stage
    if (now !== stage && !operation.done) say(STAGES[now] ?? `stage ${now}`)
    stage = now
    if (operation.done) return finish(server, operation, say, console)
  }
  throw new StatusError('UNAVAILABLE', 'the server ended the stream before the action was done')
}

const STAGES = ['accepted', 'looking up the result', 'queued', 'executing', 'completed']

const finish = async (
  server: RemoteServer,
  { response, error }: Operation,
  say: (text: string) => void,
  console: Console,
): Promise<number> => {
  if (error) throw errorOf(error)
  if (!response) throw new StatusError('INTERNAL', 'the server sent neither a response nor an error')
  const { result, status, cachedResult, message } = unpack(responseCodec, response)
  if (message !== '') say(message)
  if (result !== null) {
    console.print(text(await outputOf(server, result.stdoutRaw, result.stdoutDigest)))
    console.errors.write(text(await outputOf(server, result.stderrRaw, result.stderrDigest)))
  }
  if (status !== null && status.code !== 0) throw errorOf(status)
  if (result === null) throw new StatusError('INTERNAL', 'the server sent no result')
  say(`exit code ${result.exitCode}${cachedResult ? ', from the action cache' : ''}`)
  return result.exitCode === 0 ? 0 : 1
}

const outputOf = async (
  { cas, target }: RemoteServer,
  raw: Buffer,
  digest: ActionResult['stdoutDigest'],
): Promise<Buffer> => {
  if (raw.length > 0 || digest === null) return raw
  if (digest.sizeBytes > MAX_SHOWN_BYTES)
    return Buffer.from(`(${decimalSize(digest.sizeBytes)}: remexec cas get ${keyOf(digest)})\n`)
  return getBytes(cas, Digest.parse(digest, target.digestFunction), MAX_SHOWN_BYTES, call)
}

const text = (bytes: Buffer): string => bytes.toString('utf8')
