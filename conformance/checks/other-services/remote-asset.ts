import type { Need } from '../../exam/candidate.js'
import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { directory, file, packed } from '../../material/input-tree.js'
import { holds } from '../../proto/any.js'
import { codec, type Input } from '../../proto/codec.js'
import { timestampOf } from '../../proto/time.js'
import type { Check } from '../../requirements/check.js'
import type { Outcome } from '../../wire/client.js'
import * as methods from '../../wire/methods.js'

const badRequestCodec = codec('google.rpc.BadRequest')
const needs: readonly Need[] = ['fetch', 'cas']
const pushable: readonly Need[] = [...needs, 'push']

type FetchBlob = Input<'build.bazel.remote.asset.v1.FetchBlobRequest'>
type FetchDirectory = Input<'build.bazel.remote.asset.v1.FetchDirectoryRequest'>

const fetchBlob = (exam: Exam, request: FetchBlob) =>
  exam.call(methods.fetchBlob, { instanceName: exam.instanceName, timeout: { seconds: 5, nanos: 0 }, ...request })

const fetchDirectory = (exam: Exam, request: FetchDirectory) =>
  exam.call(methods.fetchDirectory, { instanceName: exam.instanceName, timeout: { seconds: 5, nanos: 0 }, ...request })

/** What either method answers. */
type Fetched = Outcome<{ readonly status: { readonly code: number; readonly message: string } | null }>

const freshUri = (exam: Exam): string => `urn:conformance:${exam.uuid()}`
/** Nothing listens on port 9: the connection is refused at once. */
const unreachable = (exam: Exam): string => `http://127.0.0.1:9/${exam.uuid()}`

/** Pushes a fresh blob under two URIs. */
const pushed = async (exam: Exam, more: Input<'build.bazel.remote.asset.v1.PushBlobRequest'> = {}) => {
  const data = exam.random(400)
  const [blobDigest = EMPTY_DIGEST] = await exam.upload(data)
  const uris = [freshUri(exam), freshUri(exam)]
  const request = { instanceName: exam.instanceName, uris, blobDigest, ...more }
  const push = await exam.call(methods.pushBlob, request)
  if (push.code === 7) exam.notApplicable('the server allows no such URI to be pushed')
  exam.expectCode(push, 'OK')
  return { data, blobDigest, uris }
}

/** A failure outside of the server: the call is OK and response.status has the error. */
const expectMiss = (exam: Exam, outcome: Fetched, ...codes: readonly number[]): void => {
  exam.expectCode(outcome, 'OK')
  const { code = 0, message = '' } = outcome.responses[0]?.status ?? {}
  exam.expect(codes.includes(code), `a status of code ${codes.join(' or ')}`, `code ${code} ${message}`)
}

/** One of these errors, in response.status or in the status of the call, which AST-02 judges. */
const expectFault = (exam: Exam, outcome: Fetched, ...codes: readonly number[]): void => {
  if (!codes.includes(outcome.code)) expectMiss(exam, outcome, ...codes)
}

/** The error, in the call or in the response. */
const expectNoAsset = (exam: Exam, outcome: Fetched): void => {
  if (outcome.code === 0) exam.expect((outcome.responses[0]?.status?.code ?? 0) !== 0, 'a failure', 'OK')
  else exam.expectError(outcome)
}

/** URIs and qualifiers that a program may change, sorted by name. */
const names = (exam: Exam) => {
  const texts = ['plain', '\u00dcber \u{1f980}', '%41 A', ' spaces ', 'a//b/./c', 'cafe\u0301']
  const uris = texts.map((text) => `urn:conformance:${exam.uuid()}:${text}`)
  const qualifiers = [
    { name: 'conformance.a', value: exam.uuid() },
    { name: 'conformance.b', value: ' \u00dcber  \u{1f980} %41 ' },
    { name: 'conformance.c', value: exam.uuid() },
  ]
  return { uris, qualifiers }
}

type Qualifiers = readonly { readonly name: string; readonly value: string }[]

/** The same with one value in another case, and with one trimmed. */
const otherQualifiers = (qualifiers: Qualifiers): Qualifiers[] =>
  [(text: string) => text.toUpperCase(), (text: string) => `${text}x`].map((change) =>
    qualifiers.map((each, at) => (at === 1 ? { ...each, value: change(each.value) } : each)),
  )

const ABORTED = 10
const DEADLINE_EXCEEDED = 4
const NOT_FOUND = 5
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const FAULTS = [NOT_FOUND, DEADLINE_EXCEEDED, PERMISSION_DENIED, ABORTED, RESOURCE_EXHAUSTED] as const

export const remoteAssetChecks: readonly Check[] = [
  {
    id: 'AST-01',
    sends: 'FetchBlob without a URI; refused, in the call or in the status.',
    needs,
    run: async (exam) => {
      expectNoAsset(exam, await fetchBlob(exam, {}))
    },
  },
  {
    id: 'AST-02',
    sends: 'FetchBlob of an origin that refuses connections; OK, with the error in the status of the response.',
    needs,
    run: async (exam) => {
      expectMiss(exam, await fetchBlob(exam, { uris: [unreachable(exam)] }), ...FAULTS)
    },
  },
  {
    id: 'AST-03',
    sends: 'FetchBlob of an unknown URI and a pushed one; the blob, which is in the CAS, and the URI that worked.',
    needs: pushable,
    run: async (exam) => {
      const { blobDigest, uris } = await pushed(exam)
      const outcome = await fetchBlob(exam, { uris: [unreachable(exam), ...uris] })
      expectMiss(exam, outcome, 0)
      const [answer] = outcome.responses
      exam.expectEqual(answer?.blobDigest?.hash, blobDigest.hash, 'the hash')
      exam.expect(uris.includes(answer?.uri ?? ''), 'the URI that worked', answer?.uri ?? 'none')
      exam.expectEqual(await exam.missing([blobDigest]), [], 'what is missing in the CAS')
    },
  },
  {
    id: 'AST-04',
    sends: 'FetchBlob of a pushed blob with the checksum of another; never that blob.',
    needs: pushable,
    run: async (exam) => {
      const { uris, blobDigest } = await pushed(exam)
      const sri = `sha256-${Buffer.from(exam.digest(exam.random(9)).hash, 'hex').toString('base64')}`
      const outcome = await fetchBlob(exam, { uris, qualifiers: [{ name: 'checksum.sri', value: sri }] })
      const [answer] = outcome.responses
      exam.expect(answer?.blobDigest?.hash !== blobDigest.hash, 'not the wrong blob', 'it')
      expectFault(exam, outcome, ABORTED, NOT_FOUND)
    },
  },
  {
    id: 'AST-05',
    sends: 'FetchBlob with an unknown qualifier, on a server without Push; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const push = await exam.call(methods.pushBlob, { instanceName: exam.instanceName })
      if (push.code !== 12) exam.notApplicable('the server serves Push, where any qualifier may be meant')
      const qualifiers = [{ name: 'foo', value: 'bar' }]
      const outcome = await fetchBlob(exam, { uris: [unreachable(exam)], qualifiers })
      exam.expectCode(outcome, 'INVALID_ARGUMENT')
      const fields = outcome.details
        .filter((any) => holds(any, badRequestCodec))
        .flatMap((any) => badRequestCodec.decode(any.value).fieldViolations.map(({ field }) => field))
      exam.chose(fields.includes('qualifiers.name') ? 'names qualifiers.name in a BadRequest' : 'sends no BadRequest')
    },
  },
  {
    id: 'AST-06',
    sends: 'FetchBlob with one qualifier twice; refused.',
    needs,
    run: async (exam) => {
      const qualifier = { name: 'bazel.canonical_id', value: exam.uuid() }
      const qualifiers = [qualifier, qualifier]
      exam.expectError(await fetchBlob(exam, { uris: [unreachable(exam)], qualifiers }))
    },
  },
  {
    id: 'AST-07',
    sends: 'FetchBlob of pushed content with oldest_content_accepted in an hour; a miss.',
    needs: pushable,
    run: async (exam) => {
      const { uris } = await pushed(exam)
      const oldestContentAccepted = timestampOf(Date.now() + 3_600_000)
      expectFault(exam, await fetchBlob(exam, { uris, oldestContentAccepted }), ...FAULTS)
    },
  },
  {
    id: 'AST-08',
    sends: 'A directory pushed and fetched; its root_directory_digest works with GetTree.',
    needs: pushable,
    run: async (exam) => {
      const { instanceName } = exam
      const tree = packed(directory({ f: file(exam.uuid()), d: directory({ g: file(exam.uuid()) }) }))
      await exam.upload(...tree.blobs)
      const uris = [freshUri(exam)]
      const push = { instanceName, uris, rootDirectoryDigest: tree.digest }
      exam.expectCode(await exam.call(methods.pushDirectory, push), 'OK')
      const outcome = await exam.call(methods.fetchDirectory, { instanceName, uris })
      exam.expectCode(outcome, 'OK')
      const rootDigest = exam.present(outcome.responses[0]?.rootDirectoryDigest, 'root_directory_digest')
      const listed = await exam.call(methods.getTree, { instanceName, rootDigest })
      exam.expectCode(listed, 'OK')
      exam.expectEqual(listed.responses.flatMap((each) => each.directories).length, 2, 'the number of Directories')
    },
  },
  {
    id: 'AST-09',
    sends: 'A blob pushed under two URIs; each of them fetches it.',
    needs: pushable,
    run: async (exam) => {
      const { blobDigest, uris } = await pushed(exam)
      for (const uri of uris) {
        const outcome = await fetchBlob(exam, { uris: [uri] })
        expectMiss(exam, outcome, 0)
        exam.expectEqual(outcome.responses[0]?.blobDigest?.hash, blobDigest.hash, 'the hash')
      }
    },
  },
  {
    id: 'AST-10',
    sends: 'A blob pushed with expire_at in the past; not returned.',
    needs: pushable,
    run: async (exam) => {
      const data = exam.random(100)
      const [blobDigest = EMPTY_DIGEST] = await exam.upload(data)
      const request = { instanceName: exam.instanceName, uris: [freshUri(exam)], blobDigest }
      const push = await exam.call(methods.pushBlob, { ...request, expireAt: timestampOf(Date.now() - 60_000) })
      if (push.code !== 0) return exam.chose(`refuses content that expired with code ${push.code}`)
      expectFault(exam, await fetchBlob(exam, { uris: request.uris }), ...FAULTS)
    },
  },
  {
    id: 'AST-11',
    sends: 'FetchBlob with the qualifiers that Bazel and Please send; none of them is refused.',
    needs,
    run: async (exam) => {
      const sri = `sha256-${Buffer.from(exam.digest(exam.random(9)).hash, 'hex').toString('base64')}`
      const qualifiers = [
        { name: 'bazel.canonical_id', value: exam.uuid() },
        { name: 'checksum.sri', value: sri },
        { name: 'http_header:X-Conformance', value: 'x' },
      ]
      expectFault(exam, await fetchBlob(exam, { uris: [unreachable(exam)], qualifiers }), ...FAULTS)
      const older = [{ name: 'bazel.auth_headers', value: '{}' }]
      expectFault(exam, await fetchBlob(exam, { uris: [unreachable(exam)], qualifiers: older }), ...FAULTS)
    },
  },
  {
    id: 'AST-12',
    sends: 'A blob pushed under URIs and with qualifiers in several alphabets; fetched by each URI, and not by others.',
    needs: pushable,
    run: async (exam) => {
      const data = exam.random(300)
      const [blobDigest = EMPTY_DIGEST] = await exam.upload(data)
      const { uris, qualifiers } = names(exam)
      const push = { instanceName: exam.instanceName, uris, qualifiers, blobDigest }
      exam.expectCode(await exam.call(methods.pushBlob, push), 'OK')
      for (const uri of uris) {
        const outcome = await fetchBlob(exam, { uris: [uri], qualifiers })
        expectMiss(exam, outcome, 0)
        const [answer] = outcome.responses
        exam.expectDigest(answer?.blobDigest, blobDigest, 'blob_digest')
        exam.expectEqual(answer?.uri, uri, 'the uri')
      }
      for (const others of otherQualifiers(qualifiers))
        expectFault(exam, await fetchBlob(exam, { uris: uris.slice(0, 1), qualifiers: others }), ...FAULTS)
    },
  },
  {
    id: 'AST-13',
    sends:
      'A directory pushed under URIs and with qualifiers in several alphabets; fetched by each, and not by others.',
    needs: pushable,
    run: async (exam) => {
      const { instanceName } = exam
      const tree = packed(directory({ f: file(exam.uuid()) }))
      await exam.upload(...tree.blobs)
      const { uris, qualifiers } = names(exam)
      const push = { instanceName, uris, qualifiers, rootDirectoryDigest: tree.digest }
      exam.expectCode(await exam.call(methods.pushDirectory, push), 'OK')
      for (const uri of uris) {
        const outcome = await fetchDirectory(exam, { uris: [uri], qualifiers })
        expectMiss(exam, outcome, 0)
        const [answer] = outcome.responses
        exam.expectDigest(answer?.rootDirectoryDigest, tree.digest, 'root_directory_digest')
        exam.expectEqual(answer?.uri, uri, 'the uri')
      }
      for (const others of otherQualifiers(qualifiers))
        expectFault(exam, await fetchDirectory(exam, { uris: uris.slice(0, 1), qualifiers: others }), ...FAULTS)
    },
  },
  {
    id: 'AST-14',
    sends: 'FetchDirectory of an origin that refuses connections; OK, with the error in the status of the response.',
    needs,
    run: async (exam) => {
      const uris = [unreachable(exam)]
      const outcome = await fetchDirectory(exam, { uris })
      expectMiss(exam, outcome, ...FAULTS)
      const { uri = '' } = outcome.responses[0] ?? {}
      exam.expect(['', ...uris].includes(uri), 'no uri, or the one that failed', uri)
    },
  },
  {
    id: 'AST-15',
    sends: 'A blob pushed with three qualifiers, and fetched with these in another order.',
    needs: pushable,
    run: async (exam) => {
      const { uris, qualifiers } = names(exam)
      const turned = [...qualifiers].reverse()
      const { blobDigest } = await pushed(exam, { uris, qualifiers })
      const outcome = await fetchBlob(exam, { uris: uris.slice(0, 1), qualifiers: turned })
      expectMiss(exam, outcome, 0)
      exam.expectDigest(outcome.responses[0]?.blobDigest, blobDigest, 'blob_digest')
    },
  },
  {
    id: 'AST-16',
    sends: 'A blob pushed twice, the second time with expire_at in the past; no longer returned.',
    needs: pushable,
    run: async (exam) => {
      const { blobDigest, uris } = await pushed(exam)
      const again = { instanceName: exam.instanceName, uris, blobDigest, expireAt: timestampOf(Date.now() - 60_000) }
      const push = await exam.call(methods.pushBlob, again)
      if (push.code !== 0) return exam.chose(`refuses content that expired with code ${push.code}`)
      expectFault(exam, await fetchBlob(exam, { uris }), ...FAULTS)
    },
  },
]
