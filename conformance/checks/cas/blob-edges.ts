import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { readBlob } from '../../material/action.js'
import {
  EVERY_BYTE,
  FIRST,
  FOLDED_NAMES,
  MANY,
  MANY_AT_ONCE,
  manyNames,
  UNUSUAL,
  UNUSUAL_NAMES,
  UNUSUAL_TARGETS,
  unusualBlobs,
} from '../../material/edges.js'
import {
  byBytes,
  type Directory,
  decodeDirectory,
  directory,
  file,
  type InputNode,
  packed,
  rawDirectory,
} from '../../material/input-tree.js'
import { compress, decompress } from '../../material/zstd.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const tell = ({ hash, sizeBytes }: Digest): string => `${hash}/${sizeBytes}`

/** Small blobs, one of them text, from eight bytes up: fewer bytes would be the same in two runs now and then. */
const many = (exam: Exam): Buffer[] => [
  exam.random(8),
  Buffer.from(exam.uuid()),
  ...Array.from({ length: MANY }, (_, at) => Buffer.concat([MARKED, exam.random(16), Buffer.alloc(at % 150)])),
]

/** Something for every program that takes bytes for text: a mark, no UTF-8, a NUL, and a line end. */
const MARKED = Buffer.concat([Buffer.from('\ufeff'), Buffer.from([0xff, 0x00, 0x0d, 0x0a])])

/** The numbers of entries that differ from the others, in two requests: neighbours differ in one of them. */
const ODD_ENTRIES: readonly (readonly number[])[] = [
  [0, 2, 500, 999, 1_499],
  [1, 1_000, 1_498],
]

interface Entry {
  readonly digest: Digest | null
  readonly status: { readonly code: number } | null
}

/** The numbers of the digests whose entry has a code other than OK. */
const failed = (exam: Exam, digests: readonly Digest[], entries: readonly Entry[] = []): number[] => {
  const codes = new Map(entries.map(({ digest, status }) => [digest && tell(digest), status?.code ?? 0]))
  return digests.flatMap((digest, at) => {
    const code = exam.present(codes.get(tell(digest)), `an entry for blob ${at} with its digest`)
    return code === 0 ? [] : [at]
  })
}

const batchUpdate = (exam: Exam, blobs: readonly Buffer[]) =>
  exam.call(methods.batchUpdateBlobs, {
    instanceName: exam.instanceName,
    requests: blobs.map((data) => ({ digest: exam.digest(data), data })),
  })

const batchRead = (exam: Exam, digests: readonly Digest[]) =>
  exam.call(methods.batchReadBlobs, { instanceName: exam.instanceName, digests: [...digests] })

const unpack = (exam: Exam, bytes: Buffer): Buffer => {
  try {
    return decompress(bytes)
  } catch (error) {
    exam.expect(false, 'data that decompresses', error instanceof Error ? error.message : String(error))
    throw error
  }
}

const contentChecks: readonly Check[] = [
  {
    id: 'FMB-13',
    mayRefuse: MANY_AT_ONCE,
    sends: 'A request of 3,000 digests, every second one absent; exactly the absent ones come back.',
    needs: ['cas'],
    run: async (exam) => {
      const stored = await exam.upload(...many(exam))
      const absent = stored.map(() => exam.digest(exam.random(20)))
      const asked = stored.flatMap((digest, at) => [digest, absent[at] ?? digest])
      for (const digests of [asked, [...asked].reverse()]) {
        exam.expectEqual((await exam.missing(digests)).sort(), absent.map(tell).sort(), 'the absent digests')
      }
    },
  },
  {
    id: 'BUB-17',
    mayRefuse: MANY_AT_ONCE,
    sends: 'A batch of 1,500 small blobs; an entry for each, and all are stored.',
    needs: ['cas'],
    run: async (exam) => {
      const blobs = many(exam)
      const outcome = await batchUpdate(exam, blobs)
      exam.expectCode(outcome, 'OK')
      const entries = outcome.responses[0]?.responses ?? []
      // BUB-01 reports entries without their digest.
      exam.expectEqual(entries.length, blobs.length, 'the number of entries')
      for (const { status } of entries) exam.expectStatus(status, 'of each entry')
      exam.expectEqual(await exam.missing(blobs.map((blob) => exam.digest(blob))), [], 'what is missing')
    },
  },
  {
    id: 'BUB-18',
    mayRefuse: MANY_AT_ONCE,
    sends: 'A batch of 1,500 blobs, of which some have the data of others; only these fail, and all others are stored.',
    needs: ['cas'],
    run: async (exam) => {
      for (const wrong of ODD_ENTRIES) {
        const blobs = many(exam).slice(1)
        const outcome = await exam.call(methods.batchUpdateBlobs, {
          instanceName: exam.instanceName,
          requests: blobs.map((data, at) => ({
            digest: exam.digest(data),
            data: wrong.includes(at) ? Buffer.concat([data.subarray(1), Buffer.from('x')]) : data,
          })),
        })
        exam.expectCode(outcome, 'OK')
        const digests = blobs.map((blob) => exam.digest(blob))
        exam.expectTrue(
          failed(exam, digests, outcome.responses[0]?.responses),
          wrong,
          'the numbers of the refused blobs',
        )
        exam.expectEqual((await exam.missing(digests)).length, wrong.length, 'the number of missing blobs')
      }
    },
  },
  {
    id: 'BRB-12',
    mayRefuse: MANY_AT_ONCE,
    sends: '1,500 digests, the empty one and some that are absent; the right data or a failure for each.',
    needs: ['cas', 'batch-read'],
    run: async (exam) => {
      const blobs = many(exam)
      const outcome = await batchRead(exam, [EMPTY_DIGEST, ...(await exam.upload(...blobs))])
      exam.expectCode(outcome, 'OK')
      const entries = outcome.responses[0]?.responses ?? []
      const told = entries.map(({ digest, data }) => `${digest && tell(digest)} ${data.toString('hex')}`)
      const expected = [Buffer.alloc(0), ...blobs].map((blob) => `${tell(exam.digest(blob))} ${blob.toString('hex')}`)
      exam.expectEqual(told.sort(), expected.sort(), 'the entries')
      for (const { status } of entries) exam.expectStatus(status, 'of each entry')
      for (const absent of ODD_ENTRIES) {
        const digests = blobs.map((blob, at) => exam.digest(absent.includes(at) ? exam.random(40) : blob))
        const mixed = await batchRead(exam, digests)
        exam.expectCode(mixed, 'OK')
        exam.expectTrue(
          failed(exam, digests, mixed.responses[0]?.responses),
          absent,
          'the numbers of the digests that are absent',
        )
      }
    },
  },
  {
    id: 'BRB-13',
    sends: 'Blobs with every byte value, line ends, byte order marks, and compressed data inside; returned unchanged.',
    needs: ['cas', 'batch-read'],
    run: async (exam) => {
      const blobs = unusualBlobs(exam)
      const outcome = await batchRead(exam, await exam.upload(...blobs))
      exam.expectCode(outcome, 'OK')
      for (const blob of blobs) {
        const { hash } = exam.digest(blob)
        const entry = outcome.responses[0]?.responses.find(({ digest }) => digest?.hash === hash)
        exam.expectBytes(exam.present(entry, `an entry for ${hash}`).data, blob, 'the data')
      }
    },
  },
  {
    id: 'BSR-18',
    sends: 'Such blobs by ByteStream.Write, read in full and from the second byte; returned unchanged.',
    needs: ['cas', 'bytestream'],
    run: async (exam) => {
      for (const blob of unusualBlobs(exam)) {
        exam.expectCode(await exam.write(blob), 'OK')
        for (const offset of [0, 1]) {
          const outcome = await exam.read(exam.readName(exam.digest(blob)), { offset })
          exam.expectCode(outcome, 'OK')
          exam.expectBytes(outcome.data, blob.subarray(offset), `the data from byte ${offset}`)
        }
      }
    },
  },
  {
    id: 'CMP-22',
    sends: 'Such blobs compressed, zstd frames among them, and 4 MiB of one byte; returned unchanged.',
    needs: ['bytestream', 'compressor:zstd'],
    run: async (exam) => {
      const even = Buffer.concat([exam.random(16), Buffer.alloc(4 << 20, 7)])
      for (const blob of [...unusualBlobs(exam), even]) {
        const digest = exam.digest(blob)
        const resourceName = exam.uploadName(digest, { form: 'compressed-blobs/zstd' })
        exam.expectCode(await exam.write(compress(blob), { resourceName }), 'OK')
        const packedRead = await exam.read(exam.readName(digest, { form: 'compressed-blobs/zstd' }))
        exam.expectCode(packedRead, 'OK')
        exam.expectBytes(unpack(exam, packedRead.data), blob, 'the decompressed data')
        exam.expectBytes(await readBlob(exam, digest), blob, 'the data of a plain read')
      }
    },
  },
]

const treeChecks: readonly Check[] = [
  {
    id: 'TRE-14',
    mayRefuse: UNUSUAL,
    sends:
      '1,500 Directories below one of 6,000 entries with unusual names and targets, some equal; returned unchanged.',
    needs: ['cas'],
    run: async (exam) => {
      const twin = directory({ same: file(EVERY_BYTE), none: file(''), [exam.uuid()]: symlink(' ') })
      const names = [...UNUSUAL_NAMES, ...FOLDED_NAMES]
      const contents = ['one', 'two', 'three'].map((text) => Buffer.from(text))
      const targets = [...UNUSUAL_TARGETS, ...manyNames('to/')]
      const below = manyNames('d').map((name, at): [string, InputNode] => [
        name,
        directory({ [`${at}`]: file(`${at}`) }),
      ])
      const nodes = Object.fromEntries<InputNode>([
        ...names.map((name, at): [string, InputNode] => [`d${name}`, at % 2 === 0 ? twin : directory({})]),
        ...names.map((name): [string, InputNode] => [name, file(EVERY_BYTE)]),
        ...targets.map((target, at): [string, InputNode] => [
          `${FIRST[at % 4]}  \u00dcber \u{1f980} %41 ${at} ${names[at]?.slice(0, 100) ?? ''}`,
          symlink(target),
        ]),
        ...manyNames('f').map((name, at): [string, InputNode] => [name, file(contents[at % 3] ?? '', at % 2 === 0)]),
        ...below,
      ])
      const rootBytes = withProperties(packed(directory(nodes)).blobs[0] ?? Buffer.alloc(0))
      const blobs = [packed(twin), ...below.map(([, node]) => packed(node as typeof twin))].map((each) => each.blobs[0])
      const directories = [rootBytes, ...blobs.map((bytes = Buffer.alloc(0)) => bytes)]
      await exam.upload(...directories)
      const outcome = await exam.call(methods.getTree, {
        instanceName: exam.instanceName,
        rootDigest: exam.digest(rootBytes),
      })
      exam.expectCode(outcome, 'OK')
      const came = outcome.responses.flatMap((response) => response.directories)
      const told = [...new Set(came.map((each) => rawDirectory(each).toString('hex')))].sort()
      const expected = [...directories, Buffer.alloc(0)].map((bytes) => bytes.toString('hex')).sort()
      exam.expect(told.join() === expected.join(), 'the Directories as stored', difference(came, rootBytes))
    },
  },
]

/** The same Directory with properties on every node: times below a microsecond, modes, and texts that differ. */
const withProperties = (bytes: Uint8Array): Buffer => {
  const message = decodeDirectory(bytes)
  const of = (at: number): NonNullable<Directory['nodeProperties']> => ({
    mtime: { seconds: 1_600_000_000 + at, nanos: 123_456_789 },
    unixMode: { value: 0o1000 + (at % 0o777) },
    properties: [
      { name: ` \u00dcber  \u{1f980} %41 A${at}`, value: `\u00dcber  \u{1f980} %41 A${at} ` },
      { name: `plain${at}`, value: `B${at}` },
    ],
  })
  for (const [at, node] of [...message.files, ...message.symlinks].entries()) node.nodeProperties = of(at)
  message.nodeProperties = of(0)
  return rawDirectory(message)
}

const symlink = (target: string): InputNode => ({ kind: 'symlink', target })

/** The difference between the returned and the stored root, because pages of hex are no help. */
const difference = (came: readonly Directory[], stored: Buffer): string => {
  const nearest = [...came].sort((a, b) => b.files.length - a.files.length)[0]
  if (nearest === undefined) return 'none'
  if (rawDirectory(nearest).equals(stored)) return `the root as stored, and ${came.length - 1} others that differ`
  const names = nearest.files.map(({ name }) => name).sort(byBytes)
  return `a root of ${names.length} files: ${JSON.stringify(names).slice(0, 1_000)}`
}

const spliceChecks: readonly Check[] = [
  {
    id: 'SPL-13',
    mayRefuse: MANY_AT_ONCE,
    sends: 'A blob spliced from three chunks named 1,500 times in all, then split; the same content.',
    needs: ['cas', 'bytestream', 'splice'],
    run: async (exam) => {
      const chunks = [1_024, 1_000, 500].map((sizeBytes) => exam.random(sizeBytes))
      const stored = await exam.upload(...chunks)
      // A chunk twice in a row, and neighbours that differ.
      const order = Array.from({ length: MANY }, (_, at) => [0, 0, 1, 2][at % 4] ?? 0)
      const whole = Buffer.concat(order.map((of) => chunks[of] ?? Buffer.alloc(0)))
      const request = { instanceName: exam.instanceName, blobDigest: exam.digest(whole) }
      const chunkDigests = order.map((of) => stored[of] ?? EMPTY_DIGEST)
      exam.expectCode(await exam.call(methods.spliceBlob, { ...request, chunkDigests }), 'OK')
      exam.expectBytes(await readBlob(exam, request.blobDigest), whole, 'the blob')
      if (exam.capabilities.cacheCapabilities?.splitBlobSupport !== true) return
      const outcome = await exam.call(methods.splitBlob, request)
      if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') return exam.chose('splits no blob of this size')
      const parts = await Promise.all((outcome.responses[0]?.chunkDigests ?? []).map((part) => readBlob(exam, part)))
      exam.expectBytes(Buffer.concat(parts), whole, 'the concatenation of its chunks')
    },
  },
]

export const blobEdgeChecks: readonly Check[] = [...contentChecks, ...treeChecks, ...spliceChecks]
