import protobuf from 'protobufjs/light.js'
import { HealthCheckResponseServingStatus } from '../../../src/proto/generated/grpc.health.v1.js'
import type { Exam } from '../../exam/exam.js'
import { codec } from '../../proto/codec.js'
import { Code, codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const { SERVING, SERVICE_UNKNOWN } = HealthCheckResponseServingStatus

const versions = { v1: methods.serverReflectionInfo, v1alpha: methods.serverReflectionInfoAlpha } as const

const reflect = (exam: Exam, request: object, version: keyof typeof versions = 'v1') =>
  exam.call(versions[version], request)

/** Strings of a serialized message by field number; nested messages are not parsed. */
const stringsOf = (bytes: Uint8Array): Map<number, Uint8Array[]> => {
  const reader = protobuf.Reader.create(bytes)
  const fields = new Map<number, Uint8Array[]>()
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if ((tag & 7) === 2) fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), reader.bytes()])
    else reader.skipType(tag & 7)
  }
  return fields
}

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('utf8')

/** Name (field 1), package (2), imports (3) and services (6) of a FileDescriptorProto. */
const fileOf = (bytes: Buffer): { name: string; dependency: string[]; services: string[] } => {
  const fields = stringsOf(bytes)
  const packageName = text(fields.get(2)?.[0])
  const services = (fields.get(6) ?? []).map((service) => `${packageName}.${text(stringsOf(service).get(1)?.[0])}`)
  return { name: text(fields.get(1)?.[0]), dependency: (fields.get(3) ?? []).map(text), services }
}

export const healthChecks: readonly Check[] = [
  {
    id: 'HLT-01',
    sends: 'Health.Check with the empty name; SERVING.',
    needs: ['health'],
    run: async (exam) => {
      const outcome = await exam.call(methods.healthCheck, { service: '' })
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.status, SERVING, 'the status')
    },
  },
  {
    id: 'HLT-02',
    sends: 'Health.Check of a service that does not exist; NOT_FOUND.',
    needs: ['health'],
    run: async (exam) => {
      exam.expectCode(await exam.call(methods.healthCheck, { service: 'no.such.Service' }), 'NOT_FOUND')
    },
  },
  {
    id: 'HLT-03',
    sends: 'Health.Watch of the whole and of a service that does not exist; SERVING and SERVICE_UNKNOWN at once.',
    needs: ['health'],
    run: async (exam) => {
      for (const [service, status] of [
        ['', SERVING],
        ['no.such.Service', SERVICE_UNKNOWN],
      ] as const) {
        const watch = exam.open(methods.healthWatch, { deadlineMs: 5_000 })
        await watch.send({ service })
        watch.halfClose()
        const first = await watch.next()
        if (first === undefined) {
          const { code } = await watch.outcome
          if (code === 12) exam.notApplicable('the server does not implement Watch')
        }
        exam.expectEqual(first?.status, status, `the first status of ${JSON.stringify(service)}`)
        // A server that ends the stream does so immediately after the status.
        await Promise.race([watch.outcome, new Promise((resolve) => setTimeout(resolve, 300))])
        exam.expect(!watch.hasEnded, 'the stream to stay open', 'its end')
        watch.cancel()
      }
    },
  },
  {
    id: 'HLT-04',
    sends: 'Health.List; whether it is implemented.',
    needs: ['health'],
    run: async (exam) => {
      const outcome = await exam.call(methods.healthList, {})
      const code = exam.expectCode(outcome, 'OK', 'UNIMPLEMENTED')
      exam.chose(code === 'OK' ? 'lists services with their health' : 'does not implement List')
    },
  },
  {
    id: 'HLT-05',
    sends: 'Health.List, then Check of each name in it and of each known service; the same names and status.',
    needs: ['health'],
    run: async (exam) => {
      const outcome = await exam.call(methods.healthList, {})
      if (outcome.code === Code.UNIMPLEMENTED) exam.notApplicable('the server does not implement List')
      exam.expectCode(outcome, 'OK')
      const listed = new Map(Object.entries(outcome.responses[0]?.statuses ?? {}))
      exam.expectEqual(listed.get('')?.status, SERVING, 'the status of the whole server')
      for (const [service, { status }] of listed) {
        const checked = await exam.call(methods.healthCheck, { service })
        exam.expectCode(checked, 'OK')
        exam.expectEqual(status, checked.responses[0]?.status, `the status of ${JSON.stringify(service)} in the list`)
      }
      for (const service of await servedHere(exam)) {
        const { code } = await exam.call(methods.healthCheck, { service })
        if (code === Code.OK) exam.expect(listed.has(service), `${service} in the list, as Check knows it`, 'none')
      }
    },
  },
]

/** The services with a method that answers anything but UNIMPLEMENTED. */
const servedHere = async (exam: Exam): Promise<string[]> => {
  const { instanceName } = exam
  const probes = [
    [methods.getCapabilities, { instanceName }],
    [methods.findMissingBlobs, { instanceName }],
    [methods.read, { resourceName: 'probe' }],
    [methods.getActionResult, { instanceName }],
    [methods.waitExecution, { name: 'probe' }],
    [methods.healthCheck, { service: '' }],
  ] as const satisfies readonly (readonly [methods.Method<methods.Any, methods.Any>, object])[]
  const served: string[] = []
  for (const [method, request] of probes) {
    const { code } = await exam.call<methods.Any, methods.Any>(method, request, { maxResponses: 1 })
    if (code !== 12) served.push(method.service)
  }
  return served
}

/** Runs for each version that the server has. */
const inEachVersion = async (exam: Exam, look: (version: keyof typeof versions) => Promise<void>): Promise<void> => {
  for (const version of ['v1', 'v1alpha'] as const) {
    const { code } = await reflect(exam, { listServices: '' }, version)
    if (code !== Code.UNIMPLEMENTED) await look(version)
  }
}

export const reflectionChecks: readonly Check[] = [
  {
    id: 'REF-01',
    sends: 'list_services under v1 and v1alpha; each implemented version names every service that answers here.',
    needs: ['reflection'],
    run: async (exam) => {
      const served = await servedHere(exam)
      let answered = 0
      for (const version of ['v1', 'v1alpha'] as const) {
        const outcome = await exam.call(versions[version], [{ listServices: '' }, { listServices: '*' }])
        if (outcome.code === Code.UNIMPLEMENTED) {
          exam.chose(`does not serve ${version}`)
          continue
        }
        exam.expectCode(outcome, 'OK')
        answered++
        exam.expectEqual(outcome.responses.length, 2, 'the number of answers')
        for (const { listServicesResponse } of outcome.responses) {
          const listed = listServicesResponse?.service.map(({ name }) => name) ?? []
          const lacking = served.filter((service) => !listed.includes(service))
          exam.expectEqual(lacking, [], `the services that ${version} does not list`)
        }
      }
      exam.expect(answered > 0, 'v1 or v1alpha', 'neither')
    },
  },
  {
    id: 'REF-02',
    sends: 'file_containing_symbol of a service, twice, then each file it imports; all descriptors come.',
    needs: ['reflection'],
    run: async (exam) => {
      await inEachVersion(exam, async (version) => {
        const symbol = methods.findMissingBlobs.service
        const files = new Map<string, ReturnType<typeof fileOf>>()
        for (const _ of [1, 2]) {
          const outcome = await reflect(exam, { fileContainingSymbol: symbol }, version)
          exam.expectCode(outcome, 'OK')
          const came = (outcome.responses[0]?.fileDescriptorResponse?.fileDescriptorProto ?? []).map(fileOf)
          const services = came.flatMap((file) => file.services)
          exam.expect(services.includes(symbol), `a file that defines ${symbol}`, JSON.stringify(services))
          for (const file of came) files.set(file.name, file)
        }
        const wanted = [...files.values()].flatMap((file) => file.dependency)
        for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
          if (files.has(name)) continue
          const answer = await reflect(exam, { fileByFilename: name }, version)
          exam.expectCode(answer, 'OK')
          const more = answer.responses[0]?.fileDescriptorResponse?.fileDescriptorProto.map(fileOf) ?? []
          for (const file of more) files.set(file.name, file)
          exam.expect(files.has(name), `the file ${name}`, JSON.stringify(more.map((file) => file.name)))
          wanted.push(...more.flatMap((file) => file.dependency))
        }
        exam.chose(`describes the service in ${files.size} files`)
      })
    },
  },
  {
    id: 'REF-03',
    sends: 'An unknown symbol under v1 and v1alpha; error_response with NOT_FOUND, and the stream goes on.',
    needs: ['reflection'],
    run: async (exam) => {
      await inEachVersion(exam, async (version) => {
        const stream = exam.open(versions[version])
        await stream.send({ fileContainingSymbol: 'no.such.Symbol' })
        const refusal = exam.present(await stream.next(), 'a response')
        const errorCode = exam.present(refusal.errorResponse, 'error_response').errorCode
        exam.expectEqual(codeName(errorCode), 'NOT_FOUND', 'the error_code')
        await stream.send({ listServices: '' })
        const list = exam.present(await stream.next(), 'an answer to the next request')
        exam.expect(list.listServicesResponse !== null, 'list_services_response', 'another answer')
        stream.halfClose()
        exam.expectCode(await stream.outcome, 'OK')
      })
    },
  },
  {
    id: 'REF-04',
    sends: 'Three requests on one stream; answered in their order.',
    needs: ['reflection'],
    run: async (exam) => {
      await inEachVersion(exam, async (version) => {
        const symbol = methods.findMissingBlobs.service
        const requests = [{ listServices: '' }, { fileContainingSymbol: 'no.such' }, { fileContainingSymbol: symbol }]
        const outcome = await exam.call(versions[version], requests)
        exam.expectCode(outcome, 'OK')
        exam.expectEqual(
          outcome.responses.map(({ messageResponse }) => messageResponse),
          ['listServicesResponse', 'errorResponse', 'fileDescriptorResponse'],
          'the kinds of answers',
        )
      })
    },
  },
  {
    id: 'REF-05',
    sends: 'Requests of every kind under v1 and v1alpha; each answer holds its request.',
    needs: ['reflection'],
    run: async (exam) => {
      const symbol = methods.findMissingBlobs.service
      const requests = [
        { listServices: 'all' },
        { listServices: '*' },
        { fileContainingSymbol: symbol },
        { fileContainingSymbol: 'no.such' },
        { host: 'h', fileContainingSymbol: symbol },
        { fileContainingSymbol: 'no.such' },
        { fileByFilename: 'no/such.proto' },
      ]
      await inEachVersion(exam, async (version) => {
        const outcome = await exam.call(versions[version], requests)
        exam.expectCode(outcome, 'OK')
        const form = codec(`grpc.reflection.${version}.ServerReflectionRequest`)
        for (const [at, { originalRequest }] of outcome.responses.entries()) {
          const request = form.decode(form.encode(requests[at] ?? {}))
          exam.expectEqual(originalRequest, request, `original_request of answer ${at + 1}`)
        }
        exam.expectEqual(outcome.responses.length, requests.length, 'the number of answers')
      })
    },
  },
]
