import { createReadStream } from 'node:fs'
import { open, stat, unlink } from 'node:fs/promises'
import { errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { RemoteServer } from '../client/connect.js'
import { treeEntries } from '../client/trees.js'
import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import { internalCall } from '../rpc/call.js'
import { Blob } from '../stream/blob/blob.js'
import { pour } from '../stream/blob/pour.js'
import { STAGE_BYTES, WHOLE } from '../stream/path.js'
import { CLIENT_DETAILS, CLIENT_OPTIONS, parseDigest, withServer } from './client-options.js'
import { type Arguments, type Command, type Console, textOption, UsageError } from './command.js'

export const cas: Command = {
  name: 'cas',
  usage: [
    ['get DIGEST [--output FILE]', 'write a blob of a server to standard output or into FILE'],
    ['put FILE...', 'upload files, and print their digests'],
    ['tree DIGEST', 'list the directory tree below a Directory'],
  ],
  details: [['-o, --output FILE', 'with get: FILE must not exist'], ...CLIENT_DETAILS],
  options: { ...CLIENT_OPTIONS, output: { type: 'string', short: 'o' } },
  run: async (args, console) => {
    const [verb, ...rest] = args.words
    const works = { get, put, tree } as const
    if (verb === undefined || !Object.hasOwn(works, verb)) throw new UsageError('expected get, put or tree')
    if (rest.length === 0) throw new UsageError(`${verb}: expected ${verb === 'put' ? 'FILE' : 'DIGEST'}`)
    if (verb !== 'put' && rest.length > 1) throw new UsageError(`${verb}: expected one DIGEST, found ${rest.length}`)
    await withServer(args, console, (server) => works[verb as keyof typeof works](rest, server, args, console))
    return 0
  },
}

type Work = (words: readonly string[], server: RemoteServer, args: Arguments, console: Console) => Promise<void>

const call = internalCall()

const get: Work = async ([text = ''], { cas, target }, args, { write }) => {
  const digest = parseDigest(text, target)
  const path = textOption(args, 'output')
  const blob = (await cas.get(digest, WHOLE, call)).verify(digest, { fault: 'backend' })
  if (path === undefined) return pour(await blob.take(), write, call.signal)
  const file = await open(path, 'wx').catch((error: unknown) => {
    blob.discard()
    throw ofFile(path, error)
  })
  try {
    await blob.into([file.createWriteStream()], call.signal)
  } catch (error) {
    await unlink(path)
    throw ofFile(path, error)
  }
}

const put: Work = async (paths, { cas, target }, _args, { print }) => {
  for (const path of paths) {
    const digest = await digestOf(path, target.digestFunction).catch((error: unknown) => {
      throw ofFile(path, error)
    })
    const { sizeBytes } = digest
    await cas.put(digest, Blob.ofPath([contentOf(path)], { sizeBytes }), call)
    print(`${digest.hash}-${sizeBytes}  ${path}\n`)
  }
}

const digestOf = async (path: string, digestFunction: DigestFunction): Promise<Digest> => {
  const stats = await stat(path)
  if (!stats.isFile()) throw new StatusError('INVALID_ARGUMENT', `${path}: expected a file`)
  const hasher = digestFunction.createHasher(stats.size)
  let sizeBytes = 0
  for await (const chunk of contentOf(path)) {
    hasher.update(chunk)
    sizeBytes += chunk.length
  }
  return Digest.ofHash(hasher, sizeBytes, digestFunction)
}

const contentOf = (path: string) => createReadStream(path, { highWaterMark: STAGE_BYTES })

const tree: Work = async ([text = ''], { cas, target }, _args, { print }) => {
  for await (const { path, kind, digest, target: link } of treeEntries(cas, parseDigest(text, target), call))
    print(
      `${MARKS[kind]} ${digest === undefined ? '-' : `${digest.hash}-${digest.sizeBytes}`} ${path}${link === undefined ? '' : ` -> ${link}`}\n`,
    )
}

const MARKS = { directory: 'd', file: '-', executable: 'x', symlink: 'l' } as const

const ofFile = (path: string, error: unknown): unknown =>
  errnoOf(error) === undefined ? error : new StatusError('FAILED_PRECONDITION', `${path}: ${inWords(error)}`)
