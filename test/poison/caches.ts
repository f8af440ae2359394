import { createHash } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { zstdCompress } from '../../src/stream/compression/zstd.js'
import { AC, type BuiltAction } from '../service/execution-harness.js'
import { blobOf, CAS, wire } from '../service/harness.js'
import { about, actionOf, type Caller, give, KINDS, type Kind, POISON, pathOf, upload, type World } from './world.js'

/** One way to change what a trusted caller reads. `view` is what it reads. */
export interface Try {
  readonly name: string
  readonly prepare?: (world: World) => Promise<unknown>
  readonly view: (world: World) => Promise<unknown>
  readonly attack: (world: World) => Promise<unknown>
}

const ASSETS = 'build.bazel.remote.asset.v1'
const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const TRUTH = 'the truth'
const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

/** What cannot be read is told by its code. */
export const told = (work: Promise<unknown>): Promise<unknown> =>
  work.catch(({ code }: { readonly code?: number }) => `code ${code}`)

const invocationOf = (id: string) => ({
  [REQUEST_METADATA]: metadataCodec.encode({ toolInvocationId: id, targetId: '//:t', actionMnemonic: 'M' }),
})

/** All ways in which a trusted caller looks at the result of an action. The page shows what others asked, too, but not their results. */
export const viewOfResult = async ({ ci, get }: World, built: BuiltAction): Promise<unknown> => {
  const { hash, sizeBytes } = built.digest
  const inlined = { inlineStdout: true, inlineStderr: true, inlineOutputFiles: ['out'] }
  const asked = (more: object) => told(ci.unary(`${AC}/GetActionResult`, { ...about(built), ...more }))
  const { text } = await get(`/main/blobs/sha256/action/${hash}-${sizeBytes}/`, { authorization: 'Bearer ci' })
  return [
    JSON.stringify([await asked({}), await asked(inlined)]),
    await ci.http('GET', `/bazel/ac/${hash}`),
    await ci.http('GET', `/bazel/main/ac/${hash}`, { headers: { accept: 'application/json' } }),
    await ci.http('HEAD', `/bazel/ac/${hash}`),
    text.includes(POISON),
  ]
}

const poisoned = { stdoutRaw: Buffer.from(POISON), exitCode: 0 }

/** The digests of the server's own keys, as somebody computes them who has read docs and sources. */
const ownKeys = (key: string): readonly { readonly hash: string; readonly sizeBytes: number }[] =>
  [
    ['main', '/opaque', key].join('\0'),
    ['http-entry/1', 'main', '/opaque', key].join('\0'),
    JSON.stringify(['blob', 'SHA256', `https://x/${key}`]),
    JSON.stringify(['remote asset', 'blob', 'SHA256', `https://x/${key}`]),
    `ac\0${sha256(key)}`,
    JSON.stringify(['state', 'refs/pull/branch']),
    JSON.stringify(['revoked writers']),
    JSON.stringify(['refs/pull/branch', '', key]),
  ].map((text) => ({ hash: sha256(text), sizeBytes: Buffer.byteLength(text) }))

type Ways = Readonly<Record<string, (branch: Caller, built: BuiltAction, world: World) => Promise<unknown>>>

const ofUpdate: Ways = {
  ...Object.fromEntries(
    [0, 1, 2, 3, 5, 6, 9, 10, 127, 128, 241, 242, 243, 244, 245, 246].map((digestFunction) => [
      `digest_function ${digestFunction}`,
      (branch: Caller, built: BuiltAction) => give(branch, built, POISON, { digestFunction }),
    ]),
  ),
  'another size': (branch, { digest }) =>
    branch.unary(`${AC}/UpdateActionResult`, {
      instanceName: 'main',
      actionDigest: { hash: digest.hash, sizeBytes: digest.sizeBytes + 1 },
      actionResult: poisoned,
    }),
  'size 0': (branch, { digest }) =>
    branch.unary(`${AC}/UpdateActionResult`, {
      instanceName: 'main',
      actionDigest: { hash: digest.hash, sizeBytes: 0 },
      actionResult: poisoned,
    }),
  'a policy': (branch, built) => give(branch, built, POISON, { resultsCachePolicy: { priority: -1 } }),
  'another instance': (branch, built) => give(branch, built, POISON, { instanceName: 'other' }),
  'no instance': (branch, built) => give(branch, built, POISON, { instanceName: '' }),
  'a path as instance': (branch, built) => give(branch, built, POISON, { instanceName: 'main/main' }),
  'the origin of a worker': (branch, built) =>
    give(branch, built, POISON, {
      actionResult: {
        ...poisoned,
        executionMetadata: {
          worker: 'w',
          auxiliaryMetadata: [
            {
              typeUrl: 'type.googleapis.com/remexec.scheduler.v1.ResultOrigin',
              value: codec('remexec.scheduler.v1.ResultOrigin').encode({
                identity: 'token ci',
                workerId: 'w',
                isConfined: true,
              }),
            },
          ],
        },
      },
    }),
  'the build of another': (branch, built) =>
    branch.unary(`${AC}/UpdateActionResult`, { ...about(built), actionResult: poisoned }, invocationOf('of-ci')),
  'a header that names a scope': (branch, built) =>
    branch.unary(
      `${AC}/UpdateActionResult`,
      { ...about(built), actionResult: poisoned },
      { 'remexec-scope': '', scope: '' },
    ),
  'outputs inlined': async (branch, built) => {
    const { digest } = blobOf(POISON)
    await give(branch, built, '', {
      actionResult: { outputFiles: [{ path: 'out', digest: wire(digest), contents: Buffer.from(POISON) }] },
    })
  },
  twice: async (branch, built) => {
    await give(branch, built, 'first')
    await give(branch, built, POISON)
  },
  'over HTTP': (branch, { digest }) =>
    branch.http('PUT', `/bazel/ac/${digest.hash}`, { body: resultCodec.encode(poisoned) }),
  'over HTTP, in the instance': (branch, { digest }) =>
    branch.http('PUT', `/bazel/main/ac/${digest.hash}`, { body: resultCodec.encode(poisoned) }),
  'over HTTP, slashes': (branch, { digest }) =>
    branch.http('PUT', `/bazel//main//ac/${digest.hash}`, { body: resultCodec.encode(poisoned) }),
  'over HTTP, other instance': (branch, { digest }) =>
    branch.http('PUT', `/bazel/other/ac/${digest.hash}`, { body: resultCodec.encode(poisoned) }),
  'over HTTP, JSON': (branch, { digest }) =>
    branch.http('PUT', `/bazel/ac/${digest.hash}`, {
      body: JSON.stringify({ stdoutRaw: Buffer.from(POISON).toString('base64'), exitCode: 0 }),
      headers: { 'content-type': 'application/json' },
    }),
  'over HTTP, chunked': (branch, { digest }) =>
    branch.http('PUT', `/bazel/ac/${digest.hash}`, { body: resultCodec.encode(poisoned), isChunked: true }),
  'over HTTP, the Action before': async (branch, built) => {
    await upload(branch, built)
    await branch.http('PUT', `/bazel/ac/${built.digest.hash}`, { body: resultCodec.encode(poisoned) })
  },
  'deleted over HTTP': (branch, { digest }) => branch.http('DELETE', `/bazel/ac/${digest.hash}`),
  'deleted by the operator page': (branch, { digest }) =>
    branch.http('DELETE', `/admin/result?instance=main&action=${digest.hash}-${digest.sizeBytes}`),
  'the scope dropped': (branch) => branch.http('DELETE', '/admin/result?instance=main&scope=refs/pull/branch'),
  'the caller revoked': (branch) => branch.http('DELETE', '/admin/result?instance=main&caller=token%20ci'),
}

/** Ways to write a result, for actions with and without one. */
export function* results(): Generator<Try> {
  let number = 0
  for (const [way, attack] of Object.entries(ofUpdate)) {
    for (const isThere of [true, false]) {
      const built = actionOf(`result ${++number}`)
      yield {
        name: `result, ${isThere ? 'there' : 'absent'}: ${way}`,
        prepare: async ({ ci }) => isThere && give(ci, built, TRUTH),
        view: (world) => viewOfResult(world, built),
        attack: (world) => attack(world.branch, built, world),
      }
    }
  }
}

const entryView = async ({ ci }: World, kind: Kind, key: string): Promise<unknown> => {
  const { get } = pathOf(kind, key)
  const wanted = kind === 'go' ? { 'want-object': '1' } : {}
  return [await ci.http('GET', get, { headers: wanted }), await ci.http('HEAD', get)]
}

const FORGED = {
  'content-type': 'text/html',
  'set-cookie': 'a=b',
  'x-artifact-tag': POISON,
  'x-artifact-duration': '7',
  'x-artifact-sha': POISON,
}

const ofEntries: Readonly<Record<string, (branch: Caller, kind: Kind, key: string) => Promise<unknown>>> = {
  PUT: (branch, kind, key) => branch.http('PUT', pathOf(kind, key, POISON).put, { body: POISON }),
  'PUT, chunked': (branch, kind, key) =>
    branch.http('PUT', pathOf(kind, key, POISON).put, { body: POISON, isChunked: true }),
  'PUT, large': (branch, kind, key) => {
    const body = POISON.repeat(2000)
    return branch.http('PUT', pathOf(kind, key, body).put, { body })
  },
  'PUT, headers': (branch, kind, key) =>
    branch.http('PUT', pathOf(kind, key, POISON).put, { body: POISON, headers: FORGED }),
  POST: (branch, kind, key) => branch.http('POST', pathOf(kind, key, POISON).put, { body: POISON }),
  DELETE: (branch, kind, key) => branch.http('DELETE', pathOf(kind, key).get),
}

/** Every HTTP cache and method, for entries that are there and that are not. */
export function* entries(): Generator<Try> {
  let number = 0
  for (const kind of KINDS) {
    for (const [way, attack] of Object.entries(ofEntries)) {
      for (const isThere of [true, false]) {
        const key = `entry ${++number}`
        yield {
          name: `${kind}, ${isThere ? 'there' : 'absent'}: ${way}`,
          prepare: async ({ ci }) => isThere && ci.http('PUT', pathOf(kind, key, TRUTH).put, { body: TRUTH }),
          view: (world) => entryView(world, kind, key),
          attack: ({ branch }) => attack(branch, kind, key),
        }
      }
    }
  }
}

/** Results under the digests of the server's own keys. */
export function* computedKeys(): Generator<Try> {
  let number = 0
  for (const isThere of [true, false]) {
    for (const at of ownKeys('').keys()) {
      for (const digestFunction of [1, 9]) {
        const key = `computed ${++number}`
        const path = `some/${sha256(key).slice(0, 20)}`
        yield {
          name: `key ${at} computed, function ${digestFunction}, entry ${isThere ? 'there' : 'absent'}`,
          prepare: async ({ ci }) => isThere && ci.http('PUT', `/opaque/${path}`, { body: TRUTH }),
          view: async (world) => [await entryView(world, 'opaque', key), await assetView(world, `https://x/${path}`)],
          attack: ({ branch }) =>
            branch.unary(`${AC}/UpdateActionResult`, {
              ...{ instanceName: 'main', digestFunction, actionResult: poisoned },
              actionDigest: ownKeys(path)[at],
            }),
        }
      }
    }
  }
}

const assetView = ({ ci }: World, uri: string, qualifiers: readonly object[] = []): Promise<unknown> =>
  told(
    ci
      .unary(`${ASSETS}.Fetch/FetchBlob`, { instanceName: 'main', uris: [uri], qualifiers })
      .then(({ status, blobDigest }: { status: { code: number }; blobDigest: object }) => [status?.code, blobDigest]),
  )

/** Pushes of assets, with and without qualifiers. */
export function* assets(): Generator<Try> {
  let number = 0
  const qualified = [[], [{ name: 'vcs.commit', value: 'a' }], [{ name: 'resource_type', value: 'application/x-git' }]]
  for (const qualifiers of qualified) {
    for (const method of ['PushBlob', 'PushDirectory']) {
      for (const isThere of [true, false]) {
        const uri = `https://example.com/${++number}`
        const push = async (caller: Caller, text: string, name = 'PushBlob') => {
          const { digest, bytes } = blobOf(name === 'PushBlob' ? text : '')
          const requests = [{ digest: wire(digest), data: bytes }]
          await caller.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests })
          const of = name === 'PushBlob' ? { blobDigest: wire(digest) } : { rootDirectoryDigest: wire(digest) }
          await caller.unary(`${ASSETS}.Push/${name}`, { instanceName: 'main', uris: [uri], qualifiers, ...of })
        }
        yield {
          name: `${method} with ${qualifiers.length} qualifiers, ${isThere ? 'there' : 'absent'}`,
          prepare: async ({ ci }) => isThere && push(ci, TRUTH),
          view: async (world) => [
            await assetView(world, uri, qualifiers),
            await told(
              world.ci
                .unary(`${ASSETS}.Fetch/FetchDirectory`, { instanceName: 'main', uris: [uri], qualifiers })
                .then(({ status }: { status: object }) => status),
            ),
          ],
          attack: ({ branch }) => push(branch, POISON, method),
        }
      }
    }
  }
}

const zstd = (bytes: Buffer): Buffer => zstdCompress(bytes)

const ofBlobs: Readonly<Record<string, (branch: Caller, digest: Digest, bad: Buffer) => Promise<unknown>>> = {
  BatchUpdateBlobs: (branch, digest, data) =>
    branch.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests: [{ digest: wire(digest), data }] }),
  'BatchUpdateBlobs, zstd': (branch, digest, bad) =>
    branch.unary(`${CAS}/BatchUpdateBlobs`, {
      instanceName: 'main',
      requests: [{ digest: wire(digest), data: zstd(bad), compressor: 1 }],
    }),
  'BatchUpdateBlobs, another function': (branch, digest, data) =>
    branch.unary(`${CAS}/BatchUpdateBlobs`, {
      ...{ instanceName: 'main', digestFunction: 9, requests: [{ digest: wire(digest), data }] },
    }),
  Write: (branch, { hash, sizeBytes }, data) =>
    branch.write([{ resourceName: `main/uploads/1/blobs/${hash}/${sizeBytes}`, data, finishWrite: true }]),
  'Write, zstd': (branch, { hash, sizeBytes }, bad) =>
    branch.write([
      { resourceName: `main/uploads/2/compressed-blobs/zstd/${hash}/${sizeBytes}`, data: zstd(bad), finishWrite: true },
    ]),
  'Write, resumed': async (branch, { hash, sizeBytes }, data) => {
    const resourceName = `main/uploads/3/blobs/${hash}/${sizeBytes}`
    await told(branch.write([{ resourceName, data: data.subarray(0, 5) }]))
    await branch.write([{ resourceName, writeOffset: 5, data: data.subarray(5), finishWrite: true }])
  },
  SpliceBlob: async (branch, digest, bad) => {
    const chunk = blobOf(bad)
    await branch.unary(`${CAS}/BatchUpdateBlobs`, {
      instanceName: 'main',
      requests: [{ digest: wire(chunk.digest), data: chunk.bytes }],
    })
    await branch.unary(`${CAS}/SpliceBlob`, {
      ...{ instanceName: 'main', blobDigest: wire(digest), chunkDigests: [wire(chunk.digest)] },
    })
  },
  'PUT cas': (branch, { hash }, body) => branch.http('PUT', `/bazel/cas/${hash}`, { body }),
  'PUT cas, a size': (branch, { hash, sizeBytes }, body) =>
    branch.http('PUT', `/bazel/cas/${hash}`, { body, headers: { 'x-digest-sizebytes': String(sizeBytes) } }),
  'PUT cas, zstd': (branch, { hash }, bad) =>
    branch.http('PUT', `/bazel/cas/${hash}`, { body: zstd(bad), headers: { 'content-encoding': 'zstd' } }),
}

/** Blobs that are not what their digests say. */
export function* blobs(): Generator<Try> {
  let number = 0
  for (const [way, attack] of Object.entries(ofBlobs)) {
    for (const isThere of [true, false]) {
      const good = Buffer.from(`${TRUTH} ${String(++number).padStart(4)}`.repeat(3))
      const digest = Digest.of(good, digestFunctions.SHA256)
      const bad = Buffer.from(POISON.repeat(10)).subarray(0, good.length)
      yield {
        name: `blob, ${isThere ? 'there' : 'absent'}: ${way}`,
        prepare: async ({ ci }) =>
          isThere &&
          ci.unary(`${CAS}/BatchUpdateBlobs`, {
            instanceName: 'main',
            requests: [{ digest: wire(digest), data: good }],
          }),
        view: async ({ ci }) => {
          const read = { instanceName: 'main', digests: [wire(digest)] }
          return [
            JSON.stringify(await told(ci.unary(`${CAS}/BatchReadBlobs`, read))),
            await ci.http('GET', `/bazel/cas/${digest.hash}`),
            JSON.stringify(
              await told(ci.unary(`${CAS}/FindMissingBlobs`, { instanceName: 'main', blobDigests: [wire(digest)] })),
            ),
          ]
        },
        attack: ({ branch }) => attack(branch, digest, bad),
      }
    }
  }
}
