import { createHash } from 'node:crypto'
import type fc from 'fast-check'
import { type CryptoKey, createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { ManualClock } from '../../src/base/clock.js'
import { Code, type CodeName, StatusError } from '../../src/base/status-error.js'
import { parseConfig } from '../../src/config/load.js'
import { codec, type TypeName } from '../../src/proto/codec.js'
import { unpackFindMissing } from '../../src/proto/find-missing-codec.js'
import { instanceNameIn } from '../../src/proto/instance-name-codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { instanceOfOperation, instanceOfOperations } from '../../src/reapi/operation-name.js'
import { formatReadName, parseReadName, parseWriteName } from '../../src/reapi/resource-name.js'
import { JwtIssuers } from '../../src/security/identity/jwt.js'
import { IdentitySources } from '../../src/security/identity/sources.js'
import { ConnectionError, PREFACE } from '../../src/server/http2/frame/frame.js'
import { FrameReader } from '../../src/server/http2/frame/reader.js'
import { CompressionError } from '../../src/server/http2/hpack/compression-error.js'
import { HeaderDecoder } from '../../src/server/http2/hpack/decoder.js'
import { encodeFields } from '../../src/server/http2/hpack/encoder.js'
import {
  contentOf,
  draftRecord,
  HEAD_BYTES_MAX,
  STAMP_BYTES,
  sealRecord,
} from '../../src/store/kinds/filesystem/records/record.js'
import { http2Sessions } from './transport/target.js'

/** What reads bytes of strangers. Throws where it does what it must not; what it refuses as it should is fine. */
export interface FuzzTarget {
  /** Bytes that it takes, from which others are made. Those in fixtures/fuzz/NAME come in addition. */
  readonly seeds: readonly Buffer[]
  /** Inputs that are made otherwise than from seeds: three of four are then. */
  readonly generated?: fc.Arbitrary<Buffer>
  run(bytes: Buffer): void | Promise<void>
}

/** Anything else than these codes is a mistake of ours. */
const refusing = (codes: readonly CodeName[], work: () => void): boolean => {
  try {
    work()
    return false
  } catch (error) {
    if (error instanceof StatusError && codes.some((name) => Code[name] === error.code)) return true
    throw error
  }
}

const same = (found: unknown, expected: unknown, what: string): void => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: found ${a}, expected ${b}`)
}

const { SHA256, BLAKE3, SHA512 } = digestFunctions
const digest = Digest.of(Buffer.from('a blob'), SHA256)
const wire = digest.toMessage()

const REAPI = 'build.bazel.remote.execution.v2'
const MESSAGES: readonly TypeName[] = [
  `${REAPI}.BatchUpdateBlobsRequest`,
  `${REAPI}.BatchReadBlobsRequest`,
  `${REAPI}.ExecuteRequest`,
  `${REAPI}.UpdateActionResultRequest`,
  `${REAPI}.Action`,
  `${REAPI}.Command`,
  `${REAPI}.Directory`,
  `${REAPI}.Tree`,
  `${REAPI}.RequestMetadata`,
  'google.bytestream.WriteRequest',
  'remexec.worker.v1.WorkerMessage',
]

const seedOfMessage = (index: number, message: object): Buffer => {
  const type = MESSAGES[index] as TypeName
  return Buffer.concat([Buffer.from([index]), codec(type).encode(message as never)])
}

/** The first byte says which type. What can be read is read the same again once it was written. */
const messages: FuzzTarget = {
  seeds: [
    seedOfMessage(0, { instanceName: 'main', requests: [{ digest: wire, data: Buffer.from('a blob') }] }),
    seedOfMessage(2, { instanceName: 'main', actionDigest: wire, executionPolicy: { priority: -1 } }),
    seedOfMessage(3, { actionDigest: wire, actionResult: { exitCode: 1, outputFiles: [{ path: 'o', digest: wire }] } }),
    seedOfMessage(5, { arguments: ['/bin/true'], environmentVariables: [{ name: 'A', value: 'b' }] }),
    seedOfMessage(6, { files: [{ name: 'f', digest: wire }], symlinks: [{ name: 's', target: 't' }] }),
    seedOfMessage(9, { resourceName: formatReadName('i', digest), writeOffset: 2 ** 40, data: Buffer.alloc(3) }),
    seedOfMessage(10, { hello: { protocolVersion: 1, name: 'w', properties: [{ name: 'p', values: ['v'] }] } }),
  ],
  run: (bytes) => {
    const of = codec(MESSAGES[(bytes[0] ?? 0) % MESSAGES.length] as TypeName)
    refusing(['INVALID_ARGUMENT'], () => {
      const once = of.encode(of.decode(bytes.subarray(1)) as never)
      const twice = of.encode(of.decode(once) as never)
      if (!once.equals(twice)) throw new Error(`${of.typeName} is another one when it was written and read`)
    })
  },
}

const findMissingCodec = codec(`${REAPI}.FindMissingBlobsRequest`)

/** The hand-written readers see what the codec sees. */
const findMissing: FuzzTarget = {
  seeds: [
    findMissingCodec.encode({ instanceName: 'main', blobDigests: [wire, wire] }),
    findMissingCodec.encode({ blobDigests: [Digest.of(Buffer.alloc(9), BLAKE3).toMessage()], digestFunction: 9 }),
    findMissingCodec.encode({ blobDigests: [Digest.of(Buffer.alloc(9), SHA512).toMessage()] }),
  ],
  run: (bytes) => {
    let decoded: ReturnType<typeof findMissingCodec.decode> | undefined
    refusing(['INVALID_ARGUMENT'], () => {
      decoded = findMissingCodec.decode(bytes)
    })
    let named: string | undefined
    refusing(['INVALID_ARGUMENT'], () => {
      named = instanceNameIn(bytes)
    })
    const packed = unpackFindMissing(bytes)
    // It refuses more than the codec, so that the gate and the service read the same name.
    if (decoded !== undefined && named !== undefined) same(named, decoded.instanceName, 'the name of the instance')
    if (packed === undefined) return
    same(packed.instanceName, decoded?.instanceName, 'instance_name')
    same(packed.count, decoded?.blobDigests.length, 'how many digests')
    same(packed.digestFunction, decoded?.digestFunction, 'digest_function')
    same(packed.firstHash, decoded?.blobDigests[0]?.hash, 'the first hash')
  },
}

const resourceNames: FuzzTarget = {
  seeds: [
    formatReadName('team/main', digest),
    formatReadName('', Digest.of(Buffer.alloc(3), BLAKE3)),
    `a/uploads/u/compressed-blobs/zstd/${digest.hash}/6/name/of/a/file`,
    `/blobs/${digest.hash}/6`,
    'main/operations/4f1d',
  ].map((name) => Buffer.from(name)),
  run: (bytes) => {
    const name = bytes.toString('utf8')
    refusing(['INVALID_ARGUMENT'], () => {
      const { instanceName, hash, sizeBytes, digestFunction, compressor } = parseReadName(name)
      const of = digestFunction ?? Object.values(digestFunctions).find(({ hexLength }) => hexLength === hash.length)
      if (of === undefined) return
      let again = ''
      const isNone = refusing(['INVALID_ARGUMENT'], () => {
        again = formatReadName(instanceName, Digest.parse({ hash, sizeBytes }, of), compressor)
      })
      if (!isNone) same(parseReadName(again), parseReadName(name), `the name ${again}`)
    })
    refusing(['INVALID_ARGUMENT'], () => parseWriteName(name))
    refusing(['NOT_FOUND', 'INVALID_ARGUMENT'], () => instanceOfOperation(name))
    refusing(['NOT_FOUND', 'INVALID_ARGUMENT'], () => instanceOfOperations(name))
  },
}

const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** What a reader says of chunks. */
const framesOf = (chunks: readonly Buffer[]): string => {
  const said: string[] = []
  let data = ''
  const reader = new FrameReader({
    frame: (type, flags, stream, payload) => said.push(`${type} ${flags} ${stream} ${payload.toString('hex')}`),
    dataBegins: (stream, length) => {
      data = `${stream} ${length} `
    },
    data: (bytes) => {
      data += bytes.toString('hex')
    },
    dataEnds: (isEnd) => said.push(`${data} ${isEnd}`),
  })
  try {
    for (const chunk of chunks) reader.read(chunk)
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    said.push(error.message)
  }
  return said.join('\n')
}

/** Frames are the same wherever what comes is cut. The first byte says where. */
const http2Frames: FuzzTarget = {
  seeds: [
    Buffer.concat([
      Buffer.from([7]),
      frame(4, 0, 0, Buffer.alloc(6)),
      frame(1, 4, 1, Buffer.from([0x82, 0x86])),
      frame(0, 8 | 1, 1, Buffer.from('\x03worldpad', 'latin1')),
      frame(8, 0, 0, Buffer.from([0, 0, 1, 0])),
      frame(6, 0, 0, Buffer.alloc(8)),
    ]),
    Buffer.concat([Buffer.from([1]), frame(0, 8, 1, Buffer.alloc(0)), frame(3, 0, 1, Buffer.alloc(4))]),
  ],
  run: (bytes) => {
    const rest = bytes.subarray(1)
    const step = ((bytes[0] ?? 0) % 40) + 1
    const cut: Buffer[] = [PREFACE]
    for (let at = 0; at < rest.length; at += step) cut.push(rest.subarray(at, at + step))
    same(framesOf(cut), framesOf([Buffer.concat([PREFACE, rest])]), `cut every ${step} bytes`)
  },
}

const MAX_LIST_BYTES = 4096

const inBlock = (block: Buffer): Buffer => Buffer.concat([Buffer.from([block.length]), block])

/** Blocks of one connection, each behind its length: what is understood is bounded, and never more than was sent. */
const hpack: FuzzTarget = {
  seeds: [
    Buffer.from([3, 0x82, 0x86, 0x84, 6, 0x40, 1, 0x61, 2, 0x62, 0x63, 1, 0xbe]),
    inBlock(
      encodeFields([
        [':status', '200'],
        ['content-type', 'application/grpc'],
      ]),
    ),
    Buffer.from([2, 0x3f, 0xe1, 1, 0x20]),
  ],
  run: (bytes) => {
    const decoder = new HeaderDecoder(MAX_LIST_BYTES)
    try {
      for (let at = 0; at < bytes.length; ) {
        const length = bytes[at] as number
        const { lines } = decoder.decode(bytes.subarray(at + 1, at + 1 + length))
        const characters = lines.reduce((sum, line) => sum + line.length, 0)
        if (characters > MAX_LIST_BYTES)
          throw new Error(`${characters} characters of a list of ${MAX_LIST_BYTES} bytes`)
        at += 1 + length
      }
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error
    }
  },
}

const NOW_MS = 1_700_000_000_000
const ISSUER = {
  issuer: 'https://idp.example',
  audiences: ['us'],
  name_claim: 'sub',
  groups_claim: 'groups',
  clock_skew_s: 60,
}

/** Made when it is first needed: a key takes a moment. */
const issuer = async (): Promise<{ readonly sources: IdentitySources; readonly token: string }> => {
  const { publicKey, privateKey } = (await generateKeyPair('ES256')) as { publicKey: CryptoKey; privateKey: CryptoKey }
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'k' }] })
  const jwt = new JwtIssuers([{ issuer: ISSUER, keys: () => keys }], new ManualClock(NOW_MS))
  const none = { header: undefined, oidc: undefined, passwords: undefined, certificates: undefined }
  const token = await new SignJWT({ sub: 'ann' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(ISSUER.issuer)
    .setAudience('us')
    .setExpirationTime(NOW_MS / 1000 + 60)
    .sign(privateKey)
  return { sources: new IdentitySources({ ...none, tokens: () => [], jwt }), token }
}
let opened: ReturnType<typeof issuer> | undefined

const unsigned = (header: object, claims: object): string =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')

/** No caller is admitted without a signature. VALID stands for a signed token, which the fuzzer then changes. */
const authorization: FuzzTarget = {
  seeds: [
    'Bearer VALID',
    'bearer  VALIDx',
    `Bearer ${unsigned({ alg: 'none' }, { iss: ISSUER.issuer, aud: 'us', sub: 'root', exp: 2e9 })}.`,
    `Bearer ${unsigned({ alg: 'HS256', kid: 'k' }, { iss: ISSUER.issuer, aud: 'us', sub: 'root', exp: 2e9 })}.c2lnbmF0dXJl`,
    `Bearer ${unsigned({ alg: 'ES256', kid: 'k', crit: ['x'] }, { iss: ISSUER.issuer })}.AAAA`,
    'Basic YW5uOnNlY3JldA==',
    'Digest x',
  ].map((text) => Buffer.from(text)),
  run: async (bytes) => {
    opened ??= issuer()
    const { sources, token } = await opened
    const text = bytes.toString('latin1').replace('VALID', token)
    const metadata = new Map([['authorization', text]])
    const caller = { metadata, repeats: () => false, peer: '127.0.0.1:1', clientCertificate: undefined }
    try {
      const { name } = await sources.identify(caller)
      const isOwn = text.trimEnd().toLowerCase().startsWith('bearer ') && text.includes(token)
      if (!isOwn || name !== 'ann') throw new Error(`${JSON.stringify(text)} passes for ${name}`)
    } catch (error) {
      if (error instanceof StatusError && error.code === Code.UNAUTHENTICATED) return
      throw error
    }
  },
}

/** Every text is a configuration or has problems, each in the text. */
const configuration: FuzzTarget = {
  seeds: [
    `{ stores: { A: { memory: { eviction_policy: { max_bytes: '1gb' } } } }, servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: { cas: [{ cas_store: 'A' }] } }] }`,
    `{ stores: [{ name: 'A', fast_slow: { fast: { ref_store: { name: 'A' } }, slow: { noop: {} } } }], servers: [], security: { access: [{ may: ['work'] }] } }`,
    `{ "instances": [{ "instance_name": "a", "isolate": "\${YES:-true}" }], /* c */ 'global': { drain_s: '1h2m' }, }`,
  ].map((text) => Buffer.from(text)),
  run: (bytes) => {
    const text = bytes.toString('utf8')
    const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).length
    const { config, problems } = parseConfig(text, 'fuzz.json5', { env: { HOME: '/h' } })
    if ((config === undefined) !== problems.length > 0) throw new Error('neither a configuration nor a problem')
    for (const { line, column, message } of problems) {
      if (line < 1 || line > lines || column < 1) throw new Error(`${message} at ${line}:${column} of ${lines} lines`)
    }
  },
}

const stamp = Buffer.from('8 bytes!')

const recordSeed = (kind: 'bytes' | 'file' | 'removal', bytes?: Buffer): Buffer => {
  const into = Buffer.alloc(HEAD_BYTES_MAX + 1024)
  const checksum = bytes === undefined ? 0 : 0x1234
  const length = draftRecord(into, 0, { kind, digest, storedBytes: bytes?.length ?? 0, checksum }, bytes)
  sealRecord(into, 0, stamp, { digest, writtenMs: NOW_MS, sequence: 7 })
  return into.subarray(0, length)
}

/** What is no record is none, and what is one has only bytes that are there. */
const records: FuzzTarget = {
  seeds: [recordSeed('bytes', Buffer.from('a blob')), recordSeed('file'), recordSeed('removal')],
  run: (bytes) => {
    const secret = createHash('md5').update('of another segment').digest().subarray(0, STAMP_BYTES)
    for (const format of [1, 2] as const) {
      if (contentOf(bytes, 0, { stamp: secret, format }) !== undefined)
        throw new Error('a record of another segment is taken for one of its own')
      for (const at of [0, 64]) {
        const content = contentOf(bytes, at, { stamp, format })
        if (content !== undefined && content.bytes.length > bytes.length - at)
          throw new Error('bytes that are not there')
      }
    }
  },
}

export const targets: Readonly<Record<string, FuzzTarget>> = {
  messages,
  'find-missing': findMissing,
  'resource-names': resourceNames,
  'http2-frames': http2Frames,
  'http2-sessions': http2Sessions,
  hpack,
  authorization,
  configuration,
  records,
}
