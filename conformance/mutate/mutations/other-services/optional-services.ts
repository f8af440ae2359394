import {
  createLogStream,
  fetchBlob,
  fetchDirectory,
  publishBuildToolEventStream,
  publishLifecycleEvent,
  pushBlob,
  pushDirectory,
} from '../../../wire/methods.js'
import { answered, ended, instead, type Mutation, onRequest, type Tampering } from '../../mutation.js'

// Services that the server behind the proxy may lack: the proxy implements them, with faults.

const pretend = (): Tampering[] => [
  instead(pushBlob, () => answered({})),
  instead(pushDirectory, () => answered({})),
  instead(fetchDirectory, () => answered({})),
]

const NOT_FOUND = 5

/** Checks ask for an origin that refuses connections, and push URNs. */
const isPushed = (uris: readonly string[] | null = []): boolean => uris?.some((uri) => uri.startsWith('urn:')) === true

export const optionalServicesMutations: readonly Mutation[] = [
  {
    name: 'asset-answers-anything',
    breaks: 'Remote Asset accepts every request and answers OK with nothing in it.',
    caughtBy: ['AST-01', 'AST-02', 'AST-03', 'AST-04', 'AST-06', 'AST-07', 'AST-08', 'AST-09'],
    tamper: () => [...pretend(), instead(fetchBlob, () => answered({}))],
  },
  {
    name: 'asset-fails-the-call-for-a-directory',
    breaks: 'FetchDirectory ends with NOT_FOUND in place of a status in the response.',
    caughtBy: ['AST-14'],
    tamper: () => instead(fetchDirectory, (request) => (isPushed(request?.uris) ? undefined : ended(NOT_FOUND))),
  },
  {
    name: 'asset-takes-qualifiers-in-one-order',
    breaks: 'FetchBlob finds nothing for qualifiers that are not sorted by name.',
    caughtBy: ['AST-15'],
    tamper: () =>
      instead(fetchBlob, (request) => {
        const names = (request?.qualifiers ?? []).map(({ name }) => String(name))
        const isSorted = names.every((name, at) => at === 0 || (names[at - 1] ?? '') <= name)
        return isSorted ? undefined : answered({ status: { code: NOT_FOUND } })
      }),
  },
  {
    name: 'asset-keeps-the-first-expiration',
    breaks: 'A later push of the same content does not change when it expires.',
    caughtBy: ['AST-16'],
    tamper: () => {
      const known = new Set<string>()
      return onRequest(pushBlob, (request) => {
        const uri = String(request.uris?.[0])
        if (known.has(uri)) request.expireAt = null
        known.add(uri)
      })
    },
  },
  {
    name: 'asset-without-push-ignores-qualifiers',
    breaks: 'Fetch without Push answers requests with qualifiers that it does not know.',
    caughtBy: ['AST-05'],
    tamper: () => [instead(pushBlob, () => ended(12)), instead(fetchBlob, () => answered({ status: { code: 5 } }))],
  },
  {
    name: 'log-stream-one-name',
    breaks: 'CreateLogStream returns one name for reading and writing, of a stream that does not exist.',
    caughtBy: ['LOG-02', 'LOG-03'],
    tamper: () =>
      instead(createLogStream, () => answered({ name: 'logstreams/one', writeResourceName: 'logstreams/one' })),
  },
  {
    name: 'build-events-unacknowledged',
    breaks: 'Build events are taken and never acknowledged.',
    caughtBy: ['BES-01', 'BES-02', 'BES-03', 'BES-05'],
    tamper: () => [
      instead(publishLifecycleEvent, () => answered({})),
      instead(publishBuildToolEventStream, () => answered()),
    ],
  },
  {
    name: 'build-lifecycle-refused',
    breaks: 'Lifecycle events of a build are refused.',
    caughtBy: ['BES-04'],
    tamper: () => [
      instead(publishLifecycleEvent, (request) => (request?.buildEvent ? ended(9) : answered({}))),
      instead(publishBuildToolEventStream, () => answered()),
    ],
  },
]
