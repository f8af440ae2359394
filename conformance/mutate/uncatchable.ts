const OVER_HTTP = 'judges HTTP caches, whose faults small-cache.ts of the tests has'

/** The must rows whose check no mutation of the traffic can break, each with the reason. */
export const uncatchable: Readonly<Record<string, string>> = {
  'HTC-09': OVER_HTTP,
  'HTN-01': OVER_HTTP,
  'HTW-01': OVER_HTTP,
  'HTW-02': OVER_HTTP,
}
