import type { CandidateSettings } from '../exam/candidate.js'

/** A server with the instances of test/conformance/mutations.json5, as the suite judges it while a mutation changes its answers. */
export const mutatedServer = (address: string, patience: number): CandidateSettings => ({
  ...{ address, patience, headers: {}, tls: {}, properties: [{ name: 'OSFamily', value: 'Linux' }] },
  ...{ instanceName: '', secondInstanceName: 'second', readOnlyInstanceName: 'frozen' },
  cacheOnlyInstanceName: 'projects/p/instances/i',
})
