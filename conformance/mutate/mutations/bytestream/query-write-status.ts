import { queryWriteStatus, write } from '../../../wire/methods.js'
import { answered, ended, instead, type Mutation, onResponse, recode } from '../../mutation.js'
import { sizeIn } from '../../resource-name.js'

export const queryWriteStatusMutations: readonly Mutation[] = [
  {
    name: 'query-write-never-complete',
    breaks: 'QueryWriteStatus never reports an upload as complete.',
    caughtBy: ['BSQ-01'],
    tamper: () =>
      onResponse(queryWriteStatus, (response) => {
        response.complete = false
      }),
  },
  {
    name: 'query-write-size-off-by-one',
    breaks: 'QueryWriteStatus answers one byte too few.',
    caughtBy: ['BSQ-01', 'BSQ-04'],
    tamper: () =>
      onResponse(queryWriteStatus, (response) => {
        response.committedSize -= 1
      }),
  },
  {
    name: 'query-write-unknown-is-complete',
    breaks: 'QueryWriteStatus reports an unknown upload as finished.',
    caughtBy: ['BSQ-02'],
    tamper: () => ({
      method: queryWriteStatus,
      ending: (ending) => {
        if (ending.code === 5) ending.code = 0
      },
      more: ({ request }, { code }) =>
        code === 0 ? [{ complete: true, committedSize: sizeIn(request?.resourceName).sizeBytes }] : [],
    }),
  },
  {
    name: 'query-write-unknown-is-internal',
    breaks: 'QueryWriteStatus fails with INTERNAL for an upload it does not know.',
    caughtBy: ['BSQ-02'],
    tamper: () => recode(queryWriteStatus, 5, 13),
  },
  {
    name: 'query-write-unfinished-is-complete',
    breaks: 'QueryWriteStatus reports an interrupted upload as complete.',
    caughtBy: ['BSQ-03'],
    tamper: () =>
      onResponse(queryWriteStatus, (response) => {
        response.complete = true
      }),
  },
  {
    name: 'query-write-decreases',
    breaks: 'QueryWriteStatus answers fewer bytes at each call.',
    caughtBy: ['BSQ-03'],
    tamper: () => {
      let asked = 0
      return onResponse(queryWriteStatus, (response) => {
        response.committedSize = Math.max(0, response.committedSize - 10 * asked++)
      })
    },
  },
  {
    name: 'query-write-claims-more',
    breaks: 'QueryWriteStatus reports bytes of an interrupted upload that never came.',
    caughtBy: ['BSQ-03', 'BSQ-04'],
    tamper: () =>
      instead(queryWriteStatus, (request) => answered({ committedSize: sizeIn(request?.resourceName).sizeBytes - 1 })),
  },
  {
    name: 'write-no-resumption',
    breaks: 'Write refuses to resume an interrupted upload.',
    caughtBy: ['BSQ-04'],
    tamper: () => instead(write, (request) => (request?.writeOffset ? ended(3) : undefined)),
  },
]
