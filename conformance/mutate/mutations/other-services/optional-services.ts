import {
  createLogStream,
  fetchBlob,
  fetchDirectory,
  publishBuildToolEventStream,
  publishLifecycleEvent,
  pushBlob,
  pushDirectory,
} from '../../../wire/methods.js'
import { answered, ended, instead, type Mutation, type Tampering } from '../../mutation.js'

// Services that the server behind the proxy may lack: the proxy implements them, with faults.

const pretend = (): Tampering[] => [
  instead(pushBlob, () => answered({})),
  instead(pushDirectory, () => answered({})),
  instead(fetchDirectory, () => answered({})),
]

export const optionalServicesMutations: readonly Mutation[] = [
  {
    name: 'asset-answers-anything',
    breaks: 'Remote Asset accepts every request and answers OK with nothing in it.',
    caughtBy: ['AST-01', 'AST-02', 'AST-03', 'AST-04', 'AST-06', 'AST-07', 'AST-08', 'AST-09'],
    tamper: () => [...pretend(), instead(fetchBlob, () => answered({}))],
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
