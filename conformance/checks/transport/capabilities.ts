import {
  Compressor,
  DigestFunction,
  SymlinkAbsolutePathStrategy,
} from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { storedAction, update } from '../../material/action-cache.js'
import { brotli, rawDeflate, zstdFrame } from '../../material/content.js'
import { Code, codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

type Version = { readonly major: number; readonly minor: number; readonly prerelease: string } | null

const atMost = (a: Version, b: Version): boolean =>
  (a?.major ?? 0) < (b?.major ?? 0) || ((a?.major ?? 0) === (b?.major ?? 0) && (a?.minor ?? 0) <= (b?.minor ?? 0))

const shown = (version: Version): string => (version === null ? 'none' : `${version.major}.${version.minor}`)

const cacheOf = (exam: Exam) => {
  const { cacheCapabilities } = exam.capabilities
  return cacheCapabilities ?? exam.notApplicable('the server announces no cache')
}

const executionOf = (exam: Exam) => {
  const { executionCapabilities } = exam.capabilities
  return executionCapabilities ?? exam.notApplicable('the server announces no execution')
}

const V2_0: Version = { major: 2, minor: 0, prerelease: '' }

/** Its lists are sets: the order has no meaning. */
const inAnyOrder = (capabilities: object): unknown =>
  JSON.parse(JSON.stringify(capabilities), (_, value) =>
    Array.isArray(value) ? value.map((each) => JSON.stringify(each)).sort() : value,
  )

const updated = async (exam: Exam) => {
  const [digest = EMPTY_DIGEST] = await exam.upload(exam.random(40))
  return update(exam, await storedAction(exam), { outputFiles: [{ path: 'f', digest }] })
}

export const capabilitiesChecks: readonly Check[] = [
  {
    id: 'CAP-01',
    isAlone: true,
    sends: '100 GetCapabilities at once; all are answered alike.',
    run: async (exam) => {
      const ask = () => exam.call(methods.getCapabilities, { instanceName: exam.instanceName })
      const outcomes = await Promise.all(Array.from({ length: 100 }, ask))
      for (const outcome of outcomes) {
        exam.expectCode(outcome, 'OK')
        const capabilities = exam.present(outcome.responses[0], 'ServerCapabilities')
        exam.expectEqual(inAnyOrder(capabilities), inAnyOrder(exam.capabilities), 'the capabilities')
      }
    },
  },
  {
    id: 'CAP-02',
    sends: 'GetCapabilities; whether 2.0 lies between low_api_version and high_api_version.',
    run: async (exam) => {
      const { lowApiVersion, highApiVersion } = exam.capabilities
      const holds = atMost(lowApiVersion, V2_0) && atMost(V2_0, highApiVersion)
      exam.observed('includes 2.0', holds)
      exam.chose(`announces ${shown(lowApiVersion)} to ${shown(highApiVersion)}`)
    },
  },
  {
    id: 'CAP-04',
    sends: 'GetCapabilities, FindMissingBlobs and Execute; capabilities are there exactly if the services are.',
    run: async (exam) => {
      const { instanceName } = exam
      const cas = await exam.call(methods.findMissingBlobs, { instanceName })
      exam.expectEqual(
        exam.capabilities.cacheCapabilities !== null,
        cas.code === 0,
        'the presence of cache_capabilities',
      )
      const announced = exam.capabilities.executionCapabilities
      const isEnabled = announced?.execEnabled === true
      exam.observed('has execution', isEnabled)
      const actionDigest = exam.digest(exam.random(10))
      const execution = await exam.call(methods.execute, { instanceName, actionDigest }, { maxResponses: 1 })
      // If Execute is served, an absent action is an error of the action, in the call or in the response.
      const isAbsent = execution.code === Code.UNIMPLEMENTED || execution.code === Code.PERMISSION_DENIED
      if (isEnabled) exam.expect(!isAbsent, 'Execute to be served as announced', codeName(execution.code))
      else if (execution.responses.length > 0) exam.expectError(execution)
      if (announced !== null && !isEnabled)
        exam.chose('announces execution_capabilities that say exec_enabled is false')
    },
  },
  {
    id: 'CAP-05',
    sends: 'GetCapabilities; the cache lists at least one digest function, and never UNKNOWN.',
    run: async (exam) => {
      const { digestFunctions } = cacheOf(exam)
      exam.expect(digestFunctions.length > 0, 'at least one digest function', 'none')
      exam.expect(!digestFunctions.includes(DigestFunction.UNKNOWN), 'no UNKNOWN', digestFunctions.join(', '))
    },
  },
  {
    id: 'CAP-06',
    sends:
      'GetCapabilities; the singular execution digest_function is known, and is in the repeated field if that is set.',
    run: async (exam) => {
      const { digestFunction, digestFunctions } = executionOf(exam)
      exam.expect(digestFunction !== DigestFunction.UNKNOWN, 'a known digest_function', 'UNKNOWN')
      const holds = digestFunctions.length === 0 || digestFunctions.includes(digestFunction)
      exam.expect(holds, `${digestFunction} in digest_functions`, digestFunctions.join(', '))
      const [name] = Object.entries(DigestFunction).find(([, value]) => value === digestFunction) ?? []
      exam.observed('singular digest function', name ?? digestFunction)
      if (digestFunction !== DigestFunction.SHA256)
        exam.chose('its singular function is not SHA256: SDK clients refuse')
    },
  },
  {
    id: 'CAP-08',
    sends: 'UpdateActionResult, if update_enabled says that it is allowed; OK.',
    needs: ['action-cache', 'cas'],
    run: async (exam) => {
      const isEnabled = cacheOf(exam).actionCacheUpdateCapabilities?.updateEnabled === true
      exam.observed('update enabled', isEnabled)
      if (!isEnabled) exam.notApplicable('the server announces no updates of results; see CAP-20')
      exam.expectCode(await updated(exam), 'OK')
    },
  },
  {
    id: 'CAP-20',
    sends: 'UpdateActionResult, if update_enabled does not say that it is allowed; refused.',
    needs: ['action-cache', 'cas'],
    run: async (exam) => {
      const isEnabled = cacheOf(exam).actionCacheUpdateCapabilities?.updateEnabled === true
      if (isEnabled) exam.notApplicable('the server takes updates, as it announces; see CAP-08')
      exam.expectError(await updated(exam))
    },
  },
  {
    id: 'CAP-10',
    sends: 'GetCapabilities; symlink_absolute_path_strategy is DISALLOWED or ALLOWED.',
    run: async (exam) => {
      const strategy = cacheOf(exam).symlinkAbsolutePathStrategy
      exam.expect(strategy !== SymlinkAbsolutePathStrategy.UNKNOWN, 'DISALLOWED or ALLOWED', 'UNKNOWN')
      exam.chose(strategy === SymlinkAbsolutePathStrategy.ALLOWED ? 'allows absolute symlinks' : 'disallows them')
    },
  },
  {
    id: 'CAP-11',
    sends: 'A blob through each announced compressor; accepted and stored.',
    needs: ['bytestream', 'cas'],
    run: async (exam) => {
      const { supportedCompressors } = cacheOf(exam)
      const [first] = Object.entries(Compressor).find(([, value]) => value === supportedCompressors[0]) ?? ['none']
      exam.observed('first compressor', supportedCompressors.length === 0 ? 'none' : first)
      for (const [value, name, encode] of wireForms) {
        if (!supportedCompressors.includes(value)) continue
        const data = Buffer.from(exam.random(500).toString('hex'))
        const resourceName = exam.uploadName(exam.digest(data), { form: `compressed-blobs/${name}` })
        exam.expectCode(await exam.write(encode(data), { resourceName }), 'OK')
        exam.expectEqual(await exam.missing([exam.digest(data)]), [], `what is missing of the ${name} upload`)
      }
    },
  },
  {
    id: 'CAP-12',
    sends: 'A batch entry in each announced batch compressor; accepted.',
    needs: ['cas'],
    run: async (exam) => {
      const { supportedCompressors, supportedBatchUpdateCompressors } = cacheOf(exam)
      const lists = [supportedCompressors, supportedBatchUpdateCompressors]
      exam.observed(
        'zstd in both lists',
        lists.every((list) => list.includes(Compressor.ZSTD)),
      )
      for (const [compressor, , encode] of wireForms) {
        if (!cacheOf(exam).supportedBatchUpdateCompressors.includes(compressor)) continue
        const data = Buffer.from(exam.random(500).toString('hex'))
        const requests = [{ digest: exam.digest(data), data: encode(data), compressor }]
        const outcome = await exam.call(methods.batchUpdateBlobs, { instanceName: exam.instanceName, requests })
        exam.expectCode(outcome, 'OK')
        const entry = exam.present(outcome.responses[0]?.responses[0], 'an entry')
        exam.expectEqual(entry.status?.code ?? 0, 0, "the entry's status")
        exam.expectEqual(await exam.missing([exam.digest(data)]), [], 'what is missing afterwards')
      }
    },
  },
  {
    id: 'CAP-15',
    sends: 'GetCapabilities; announced chunking parameters are in range.',
    run: async (exam) => {
      const { fastCdc2020Params: fast, repMaxCdcParams: rep } = cacheOf(exam)
      if (fast === null && rep === null) exam.notApplicable('the server announces no chunking')
      const average = fast?.avgChunkSizeBytes ?? 1024
      exam.expect(average >= 1024 && average <= 1 << 20, 'an average of 1 KiB to 1 MiB', String(average))
      const least = rep?.minChunkSizeBytes ?? 64
      exam.expect(least >= 64, 'a smallest chunk of 64 bytes or more', String(least))
    },
  },
  {
    id: 'CAP-18',
    sends: 'GetCapabilities; versions are numbers or a prerelease, and a deprecated one is not above the lowest.',
    run: async (exam) => {
      const { lowApiVersion, highApiVersion, deprecatedApiVersion } = exam.capabilities
      for (const version of [lowApiVersion, highApiVersion]) {
        exam.expect(version !== null, 'low and high versions', 'none')
        const isBoth = version !== null && version.major > 0 && version.prerelease !== ''
        exam.expect(!isBoth, 'numbers or a prerelease', `both in ${shown(version)}`)
      }
      const holds = deprecatedApiVersion === null || atMost(deprecatedApiVersion, lowApiVersion)
      exam.expect(holds, 'deprecated <= low', `${shown(deprecatedApiVersion)} > ${shown(lowApiVersion)}`)
    },
  },
  {
    id: 'CAP-19',
    sends: 'GetCapabilities of instances with different configurations; each describes its own.',
    run: async (exam) => {
      const { secondInstanceName, readOnlyInstanceName, cacheOnlyInstanceName } = exam.candidate
      const of = async (instanceName: string) => {
        const outcome = await exam.call(methods.getCapabilities, { instanceName })
        exam.expectCode(outcome, 'OK')
        return exam.present(outcome.responses[0], 'capabilities')
      }
      if (secondInstanceName !== undefined) await of(secondInstanceName)
      if (readOnlyInstanceName !== undefined) {
        const { cacheCapabilities } = await of(readOnlyInstanceName)
        const isEnabled = cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled === true
        exam.expectEqual(isEnabled, false, 'update_enabled of the read-only instance')
      }
      if (cacheOnlyInstanceName !== undefined) {
        const { executionCapabilities } = await of(cacheOnlyInstanceName)
        exam.expectEqual(executionCapabilities?.execEnabled ?? false, false, 'exec_enabled of the cache-only instance')
      }
      const others = [readOnlyInstanceName, cacheOnlyInstanceName].filter((name) => name !== undefined)
      if (others.length === 0) exam.notApplicable('needs --read-only-instance or --cache-only-instance')
    },
  },
]

const wireForms = [
  [Compressor.ZSTD, 'zstd', (bytes: Buffer) => zstdFrame(bytes)],
  [Compressor.DEFLATE, 'deflate', rawDeflate],
  [Compressor.BROTLI, 'brotli', brotli],
] as const
