import type { RateCase } from '../case.js'
import { exportingEnv } from '../server/collector.js'
import { countedOnly, observed, unobserved } from '../server/config.js'
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

/** What it costs that an operator sees what goes on: each case at a server that shows it, beside one that shows nothing. */
export const observedCases = (): readonly RateCase[] =>
  [
    findMissing(1, 'present'),
    findMissing(100, 'present'),
    getActionResult({ name: 'GetActionResult hit', isHit: true, isInlined: false }),
    readCase(size('1 KiB'), false),
    readCase(size('1 MiB'), false),
    identityWrite(size('1 KiB')),
    identityWrite(size('1 MiB')),
  ].map((subject) => ({
    ...subject,
    name: `${subject.name}, observed`,
    configure: observed,
    env: exportingEnv,
    limits: [
      { name: 'unobserved', usesBare: true, configure: unobserved, run: subject.run },
      { name: 'no line of a call', usesBare: true, configure: countedOnly, run: subject.run },
    ],
  }))
