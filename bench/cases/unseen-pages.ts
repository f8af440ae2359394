import type { Limit, RateCase } from '../case.js'
import { withoutPages, withoutPagesToo, withPages, withPagesToo } from '../server/config.js'
import { getActionResult, OF_A_BUILD } from './action-result.js'
import { findMissing } from './find-missing.js'
import { readCase } from './read.js'
import { sizes } from './sizes.js'

/**
 * What pages and build events cost calls of a build while nobody looks: each case at a server with and one without. A second
 * process of each shows how much two equal processes differ.
 */
export const unseenPagesCases = (): readonly RateCase[] =>
  [
    findMissing(1, 'present'),
    getActionResult({ name: 'GetActionResult hit', isHit: true, isInlined: false, headers: OF_A_BUILD }),
    getActionResult({ name: 'GetActionResult miss', isHit: false, isInlined: false, headers: OF_A_BUILD }),
    ...sizes.filter(({ name }) => name === '1 KiB').map((size) => readCase(size, false)),
  ].map((subject) => {
    const beside = (name: string, configure: (dataPath: string) => object): Limit => ({
      ...{ name, usesBare: true, configure, run: subject.run },
    })
    return {
      ...subject,
      name: `${subject.name}, unseen pages`,
      configure: withPages,
      limits: [
        beside('without pages', withoutPages),
        beside('with pages too', withPagesToo),
        beside('without pages too', withoutPagesToo),
      ],
    }
  })
