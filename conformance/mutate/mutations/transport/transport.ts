import {
  findMissingBlobs,
  getCapabilities,
  healthCheck,
  healthList,
  healthWatch,
  read,
  serverReflectionInfo,
  write,
} from '../../../wire/methods.js'
import {
  answered,
  ended,
  instead,
  type Mutation,
  onEnding,
  onResponse,
  replaceResponse,
  type Tampering,
} from '../../mutation.js'

const SERVING = 1

const toUnknownMethod = (answer: 'reset' | ReturnType<typeof ended>): Tampering => ({
  method: 'every method',
  answer: (_, { path }) => (path.endsWith('/NoSuchMethod') ? answer : undefined),
})

const isCas = (name: string): boolean => name === findMissingBlobs.service

export const transportMutations: readonly Mutation[] = [
  {
    name: 'unknown-method-internal',
    breaks: 'A method that does not exist fails with INTERNAL.',
    caughtBy: ['GEN-02'],
    tamper: () => toUnknownMethod(ended(13)),
  },
  {
    name: 'unknown-method-reset',
    breaks: 'A call to a method that does not exist is reset.',
    caughtBy: ['GEN-02'],
    tamper: () => toUnknownMethod('reset'),
  },
  {
    name: 'deadline-ignored',
    breaks: 'The deadline of a call (grpc-timeout) is ignored.',
    caughtBy: ['GEN-05'],
    waitsMs: 10_000,
    tamper: () => ({
      method: write,
      headers: (headers) => {
        delete headers['grpc-timeout']
      },
    }),
  },
  {
    name: 'compressed-messages-fail',
    breaks: 'A compressed request message fails with INTERNAL.',
    caughtBy: ['GEN-10'],
    tamper: () => instead(getCapabilities, (_, { headers }) => (headers['grpc-encoding'] ? ended(13) : undefined)),
  },
  {
    name: 'unknown-encoding-taken-for-none',
    breaks: 'A request in an encoding that does not exist is answered.',
    caughtBy: ['GEN-10'],
    tamper: () =>
      instead(getCapabilities, (_, { headers }) =>
        headers['grpc-encoding'] === 'no-such-encoding' ? answered({}) : undefined,
      ),
  },
  {
    name: 'unknown-header-refused',
    breaks: 'A call with an unknown header is rejected.',
    caughtBy: ['GEN-11'],
    tamper: () => instead(findMissingBlobs, (_, { headers }) => (headers['x-foo'] ? ended(3) : undefined)),
  },
  {
    name: 'trailing-unknown-field',
    breaks: 'Blobs made by the server end with an unknown field.',
    caughtBy: ['OUT-03', 'OUT-02'],
    tamper: () => ({
      method: read,
      // Field 1000, length-delimited, three bytes.
      more: (_, { code }) => (code === 0 ? [{ data: Buffer.from([0xc2, 0x3e, 3, 1, 2, 3]) }] : []),
    }),
  },
  {
    name: 'health-not-serving',
    breaks: 'Health.Check of the whole server is NOT_SERVING while it serves.',
    caughtBy: ['HLT-01'],
    tamper: () =>
      onResponse(healthCheck, (response) => {
        response.status = 2
      }),
  },
  {
    name: 'health-unknown-is-serving',
    breaks: 'Health.Check reports SERVING for a service that does not exist.',
    caughtBy: ['HLT-02'],
    tamper: () => ({
      method: healthCheck,
      ending: (ending) => {
        if (ending.code === 5) ending.code = 0
      },
      more: ({ request }, { code }) => (code === 0 && request?.service ? [{ status: SERVING }] : []),
    }),
  },
  {
    name: 'health-list-not-serving',
    breaks: 'Health.List reports every service as NOT_SERVING, and Check reports SERVING.',
    caughtBy: ['HLT-05'],
    tamper: () =>
      onResponse(healthList, ({ statuses }) => {
        for (const each of Object.values(statuses)) each.status = SERVING + 1
      }),
  },
  {
    name: 'reflection-request-not-repeated',
    breaks: 'Reflection answers do not contain the request.',
    caughtBy: ['REF-05'],
    tamper: () =>
      onResponse(serverReflectionInfo, (answer) => {
        answer.originalRequest = null
      }),
  },
  {
    name: 'health-watch-unknown-is-an-error',
    breaks: 'Health.Watch of a service that does not exist ends with NOT_FOUND.',
    caughtBy: ['HLT-03'],
    tamper: () => instead(healthWatch, (request) => (request?.service ? ended(5) : undefined)),
  },
  {
    name: 'health-watch-ends',
    breaks: 'Health.Watch ends after the first state.',
    caughtBy: ['HLT-03'],
    tamper: () => instead(healthWatch, (request) => answered({ status: request?.service ? 3 : SERVING })),
  },
  {
    name: 'reflection-hides-service',
    breaks: 'Reflection does not list ContentAddressableStorage.',
    caughtBy: ['REF-01'],
    tamper: () =>
      onResponse(serverReflectionInfo, ({ listServicesResponse }) => {
        if (listServicesResponse) {
          listServicesResponse.service = listServicesResponse.service.filter(({ name }) => !isCas(name))
        }
      }),
  },
  {
    name: 'reflection-hides-another-service',
    breaks: 'Reflection does not list ByteStream.',
    caughtBy: ['REF-01'],
    tamper: () =>
      onResponse(serverReflectionInfo, ({ listServicesResponse }) => {
        if (listServicesResponse) {
          listServicesResponse.service = listServicesResponse.service.filter(({ name }) => name !== read.service)
        }
      }),
  },
  {
    name: 'reflection-imports-missing',
    breaks: 'Reflection does not find files by their names.',
    caughtBy: ['REF-02'],
    tamper: () => ({
      method: serverReflectionInfo,
      response: ({ fileDescriptorResponse }) => {
        if (fileDescriptorResponse) {
          fileDescriptorResponse.fileDescriptorProto = fileDescriptorResponse.fileDescriptorProto.slice(0, 1)
        }
        return undefined
      },
      answer: (request) =>
        request?.fileByFilename ? answered({ errorResponse: { errorCode: 5, errorMessage: 'mutated' } }) : undefined,
    }),
  },
  {
    name: 'reflection-ends-at-unknown-symbol',
    breaks: 'Reflection ends the stream with NOT_FOUND at an unknown symbol.',
    caughtBy: ['REF-03'],
    tamper: () => instead(serverReflectionInfo, (request) => (request?.fileContainingSymbol ? ended(5) : undefined)),
  },
  {
    name: 'reflection-errors-swallowed',
    breaks: 'Reflection does not answer requests that it cannot fulfil.',
    caughtBy: ['REF-04'],
    tamper: () => replaceResponse(serverReflectionInfo, ({ errorResponse }) => (errorResponse ? [] : undefined)),
  },
  {
    name: 'details-code-differs',
    breaks: 'The status in grpc-status-details-bin has another code than the call.',
    caughtBy: ['GEN-07'],
    tamper: () =>
      onEnding(findMissingBlobs, (ending) => {
        // A google.rpc.Status of code 13.
        if (ending.code !== 0) ending.details = Buffer.from([0x08, 13])
      }),
  },
  {
    name: 'request-metadata-checked',
    breaks: 'A call whose RequestMetadata does not decode is refused.',
    caughtBy: ['RMD-02'],
    tamper: () => refusingGarbage(),
  },
]

const refusingGarbage = (): Tampering => ({
  method: 'every method',
  answer: (_, { headers }) => {
    const header = headers['build.bazel.remote.execution.v2.requestmetadata-bin']
    const bytes = Buffer.from(String(header ?? ''), 'base64')
    return header !== undefined && !bytes.includes('remexec-conformance') ? ended(3) : undefined
  },
})
