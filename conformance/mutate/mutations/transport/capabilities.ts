import type { Output } from '../../../proto/codec.js'
import { execute, getCapabilities, updateActionResult, write } from '../../../wire/methods.js'
import { ended, instead, type Mutation, onRequest, onResponse, type Tampering } from '../../mutation.js'

type Capabilities = Output<'build.bazel.remote.execution.v2.ServerCapabilities'>
type Cache = NonNullable<Capabilities['cacheCapabilities']>
type Execution = NonNullable<Capabilities['executionCapabilities']>

const announce = (edit: (capabilities: Capabilities) => void) => (): Tampering => onResponse(getCapabilities, edit)

const cache = (edit: (cache: Cache) => void) =>
  announce(({ cacheCapabilities }) => {
    if (cacheCapabilities) edit(cacheCapabilities)
  })

const execution = (edit: (execution: Execution) => void) =>
  announce(({ executionCapabilities }) => {
    if (executionCapabilities) edit(executionCapabilities)
  })

export const capabilitiesMutations: readonly Mutation[] = [
  {
    name: 'capabilities-one-at-a-time',
    breaks: 'GetCapabilities refuses calls that come while another is answered.',
    caughtBy: ['CAP-01'],
    tamper: () => {
      let open = 0
      return {
        method: getCapabilities,
        answer: () => (open++ > 0 ? ended(8) : undefined),
        ending: () => {
          open = 0
        },
      }
    },
  },
  {
    name: 'capabilities-fail-now-and-then',
    breaks: 'Every tenth GetCapabilities fails.',
    caughtBy: ['CAP-01'],
    tamper: () => {
      let asked = 0
      return instead(getCapabilities, () => (++asked % 10 === 0 ? ended(14) : undefined))
    },
  },
  {
    name: 'capabilities-change-between-calls',
    breaks: 'GetCapabilities announces another batch limit each time.',
    caughtBy: ['CAP-01'],
    tamper: () => {
      let asked = 0
      return cache((announced) => {
        announced.maxBatchTotalSizeBytes -= asked++
      })()
    },
  },
  {
    name: 'capabilities-of-the-default-instance',
    breaks: 'GetCapabilities always describes the default instance.',
    caughtBy: ['CAP-19'],
    tamper: () =>
      onRequest(getCapabilities, (request) => {
        request.instanceName = ''
      }),
  },
  {
    name: 'capabilities-answered-twice',
    breaks: 'GetCapabilities sends its response twice.',
    caughtBy: ['GEN-01'],
    tamper: () => ({ method: getCapabilities, response: (response) => [response, response] }),
  },
  {
    name: 'capabilities-version-both-forms',
    breaks: 'Capabilities give a version as numbers and as a prerelease at once.',
    caughtBy: ['CAP-18'],
    tamper: announce(({ lowApiVersion }) => {
      if (lowApiVersion) lowApiVersion.prerelease = 'beta'
    }),
  },
  {
    name: 'capabilities-deprecated-too-high',
    breaks: 'Capabilities deprecate a version above the lowest supported one.',
    caughtBy: ['CAP-18'],
    tamper: announce((capabilities) => {
      capabilities.deprecatedApiVersion = { major: 2, minor: 9, patch: 0, prerelease: '' }
    }),
  },
  {
    name: 'capabilities-without-cache',
    breaks: 'Capabilities leave out the cache, though it is served.',
    caughtBy: ['CAP-04'],
    tamper: announce((capabilities) => {
      capabilities.cacheCapabilities = null
    }),
  },
  {
    name: 'capabilities-without-execution',
    breaks: 'Capabilities leave out execution, though it is served.',
    caughtBy: ['CAP-04'],
    tamper: announce((capabilities) => {
      capabilities.executionCapabilities = null
    }),
  },
  {
    name: 'capabilities-no-digest-function',
    breaks: 'The cache announces no digest function.',
    caughtBy: ['CAP-05'],
    tamper: cache((announced) => {
      announced.digestFunctions = []
    }),
  },
  {
    name: 'capabilities-unknown-digest-function',
    breaks: 'The cache announces the digest function UNKNOWN.',
    caughtBy: ['CAP-05'],
    tamper: cache((announced) => {
      announced.digestFunctions.push(0)
    }),
  },
  {
    name: 'capabilities-execution-function-unknown',
    breaks: 'The singular digest function of execution is UNKNOWN.',
    caughtBy: ['CAP-06'],
    tamper: execution((announced) => {
      announced.digestFunction = 0
    }),
  },
  {
    name: 'capabilities-execution-function-not-in-list',
    breaks: 'The singular digest function of execution is not among those it lists.',
    caughtBy: ['CAP-06'],
    tamper: execution((announced) => {
      announced.digestFunctions = [2]
    }),
  },
  {
    name: 'capabilities-execution-not-served',
    breaks: 'Execution is announced, and Execute is not implemented.',
    caughtBy: ['CAP-04'],
    tamper: () => instead(execute, () => ended(12)),
  },
  {
    name: 'capabilities-update-not-announced',
    breaks: 'Capabilities say that results may not be updated, though they may.',
    caughtBy: ['CAP-20'],
    tamper: cache((announced) => {
      if (announced.actionCacheUpdateCapabilities) announced.actionCacheUpdateCapabilities.updateEnabled = false
    }),
  },
  {
    name: 'capabilities-update-refused',
    breaks: 'Capabilities say that results may be updated, and updates are refused.',
    caughtBy: ['CAP-08', 'ACU-01', 'ACU-02', 'ACG-02'],
    tamper: () => instead(updateActionResult, () => ended(7)),
  },
  {
    name: 'capabilities-batch-limit-too-large',
    breaks: 'Capabilities announce twice the batch limit that is enforced.',
    caughtBy: ['BUB-05'],
    tamper: cache((announced) => {
      announced.maxBatchTotalSizeBytes *= 2
    }),
  },
  {
    name: 'capabilities-batch-limit-too-small',
    breaks: 'Capabilities announce half the batch limit that is enforced.',
    caughtBy: ['BUB-04', 'BRB-04'],
    tamper: cache((announced) => {
      announced.maxBatchTotalSizeBytes /= 2
    }),
  },
  {
    name: 'capabilities-symlink-strategy-unknown',
    breaks: 'The strategy for absolute symlinks is UNKNOWN.',
    caughtBy: ['CAP-10'],
    tamper: cache((announced) => {
      announced.symlinkAbsolutePathStrategy = 0
    }),
  },
  {
    name: 'capabilities-symlink-strategy-not-kept',
    breaks: 'Absolute symlinks are announced as disallowed, and let through.',
    caughtBy: ['CMD-20', 'OUT-10'],
    tamper: cache((announced) => {
      announced.symlinkAbsolutePathStrategy = 1
    }),
  },
  {
    name: 'capabilities-node-property-not-served',
    breaks: 'A node property is announced, and actions that ask for it are refused.',
    caughtBy: ['CAP-17'],
    tamper: execution((announced) => {
      announced.supportedNodeProperties.push('no-such-property')
    }),
  },
  {
    name: 'capabilities-compressor-not-served',
    breaks: 'Compressors are announced, and uploads with them are refused.',
    caughtBy: ['CAP-11', 'CMP-01', 'CMP-14', 'CMP-17', 'CMP-18'],
    tamper: () =>
      instead(write, (request) => (request?.resourceName?.includes('compressed-blobs/') ? ended(3) : undefined)),
  },
  {
    name: 'capabilities-chunks-too-small',
    breaks: 'The announced average of FastCDC chunks is below 1 KiB.',
    caughtBy: ['CAP-15'],
    tamper: cache((announced) => {
      announced.fastCdc2020Params = { avgChunkSizeBytes: 100, seed: 0 }
    }),
  },
  {
    name: 'capabilities-other-instance-unanswered',
    breaks: 'GetCapabilities knows one instance only.',
    caughtBy: ['CAP-19'],
    tamper: () => instead(getCapabilities, (request) => (request?.instanceName ? ended(3) : undefined)),
  },
  {
    name: 'capabilities-gitsha1-not-served',
    breaks: 'GITSHA1 is announced, and blobs under it are refused.',
    caughtBy: ['DIG-15'],
    tamper: cache((announced) => {
      announced.digestFunctions.push(10)
    }),
  },
]
