import type { RateCase } from '../case.js'
import { openCache } from '../server/config.js'
import { actionResult, findMissing, type Work } from './cache-work.js'

/** 2,048 calls of 64 clients: what they hold fills the room that V8 has for new objects by default. */
const MANY = { connections: 64, times: 64 }

const withOption = { env: async () => ({ NODE_OPTIONS: '--max-semi-space-size=32' }) }
/** A server of a run is known by the name of this. */
const roomyCache = (dataPath: string): object => openCache(dataPath)

const beside = ({ name, unit, requests, setUp, run }: Work): RateCase => ({
  kind: 'rate',
  name: `${name} 64x32, with --max-semi-space-size=32`,
  unit,
  unitsPerRequest: 1,
  requests,
  configure: roomyCache,
  ...withOption,
  setUp,
  run,
  limits: [
    { name: "Node's own limit", usesBare: true, configure: openCache, env: async () => ({ NODE_OPTIONS: '' }), run },
  ],
})

/** What the option brings that `npm start`, the images and the unit set: docs/operation.md, "Memory of the process". */
export const newObjectCases = (): readonly RateCase[] => [findMissing(MANY), actionResult(MANY)].map(beside)
