import type { Limit, RateCase } from '../case.js'
import { exportingEvery } from '../server/collector.js'
import { observed, observedClosely, observedToo, unobserved, unobservedToo } from '../server/config.js'
import { getActionResult } from './action-result.js'
import { findMissing } from './find-missing.js'
import { readCase } from './read.js'
import { type Size, sizes } from './sizes.js'
import { identityWrite } from './write.js'

const size = (wanted: string): Size => {
  const found = sizes.find(({ name }) => name === wanted)
  if (found === undefined) throw new Error(`there is no size ${wanted}`)
  return found
}

/**
 * The cost of observability: each case at an observed and an unobserved server. A second process of each shows how much
 * two equal processes differ.
 */
export const observedCases = (): readonly RateCase[] =>
  [
    findMissing(1, 'present'),
    findMissing(100, 'present'),
    getActionResult({ name: 'GetActionResult hit', isHit: true, isInlined: false }),
    readCase(size('1 KiB'), false),
    readCase(size('1 MiB'), false),
    identityWrite(size('1 KiB')),
    identityWrite(size('1 MiB')),
  ].map((subject) => {
    const beside = (name: string, configure: (dataPath: string) => object): Limit => ({
      ...{ name, usesBare: true, configure, run: subject.run },
    })
    return {
      ...subject,
      name: `${subject.name}, observed`,
      configure: observed,
      env: exportingEvery(60_000),
      limits: [
        beside('unobserved', unobserved),
        beside('observed too', observedToo),
        beside('unobserved too', unobservedToo),
        { ...beside('observed closely', observedClosely), env: exportingEvery(10_000) },
      ],
    }
  })
