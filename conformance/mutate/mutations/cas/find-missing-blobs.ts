import { EMPTY_DIGEST } from '../../../exam/exam.js'
import { findMissingBlobs, write } from '../../../wire/methods.js'
import { ended, instead, type Mutation, onRequest, onResponse, replaceResponse } from '../../mutation.js'
import { sizeIn } from '../../resource-name.js'

export const findMissingBlobsMutations: readonly Mutation[] = [
  {
    name: 'missing-drops-one',
    breaks: 'FindMissingBlobs leaves out the first missing digest.',
    caughtBy: ['FMB-01'],
    tamper: () =>
      onResponse(findMissingBlobs, (response) => {
        response.missingBlobDigests.shift()
      }),
  },
  {
    name: 'missing-reports-present',
    breaks: 'FindMissingBlobs reports every digest of the request, present or not.',
    caughtBy: ['FMB-01', 'FMB-02', 'DIG-12', 'FMB-07'],
    tamper: () =>
      replaceResponse(findMissingBlobs, (_, { request }) => [{ missingBlobDigests: request?.blobDigests ?? [] }]),
  },
  {
    name: 'missing-reports-a-stranger',
    breaks: 'FindMissingBlobs reports a digest that was not in the request.',
    caughtBy: ['FMB-01', 'FMB-02'],
    tamper: () =>
      onResponse(findMissingBlobs, (response) => {
        response.missingBlobDigests.push({ hash: '5'.repeat(64), sizeBytes: 5 })
      }),
  },
  {
    name: 'missing-reports-empty-blob',
    breaks: 'FindMissingBlobs reports the empty blob, which clients never upload.',
    caughtBy: ['DIG-12'],
    tamper: () =>
      onResponse(findMissingBlobs, (response, { request }) => {
        const asked = request?.blobDigests ?? []
        if (asked.some(({ sizeBytes }) => !sizeBytes)) response.missingBlobDigests.push({ ...EMPTY_DIGEST })
      }),
  },
  {
    name: 'missing-is-an-error',
    breaks: 'FindMissingBlobs ends with NOT_FOUND if all digests are absent.',
    caughtBy: ['FMB-01'],
    tamper: () => ({
      method: findMissingBlobs,
      response: (response, { request }) =>
        response.missingBlobDigests.length === request?.blobDigests?.length && response.missingBlobDigests.length > 0
          ? []
          : undefined,
      ending: (ending, { request }) => {
        if ((request?.blobDigests ?? []).length > 0) ending.code = 5
      },
    }),
  },
  {
    name: 'missing-nothing-asked-is-an-error',
    breaks: 'FindMissingBlobs refuses a request without digests.',
    caughtBy: ['FMB-02'],
    tamper: () =>
      instead(findMissingBlobs, (request) => ((request?.blobDigests ?? []).length === 0 ? ended(3) : undefined)),
  },
  {
    name: 'missing-lags-behind',
    breaks: 'FindMissingBlobs reports a blob as missing for 300 ms after the first lookup, stored or not.',
    caughtBy: ['FMB-07', 'BSW-23'],
    tamper: () => {
      const firstAskedMs = new Map<string, number>()
      return replaceResponse(findMissingBlobs, (_, { request }) => {
        return [
          {
            missingBlobDigests: request?.blobDigests?.filter(({ hash = '' }) => {
              const since = firstAskedMs.get(hash) ?? performance.now()
              firstAskedMs.set(hash, since)
              return performance.now() - since < 300
            }),
          },
        ]
      })
    },
  },
  {
    name: 'missing-counts-unfinished-uploads',
    breaks: 'A blob counts as present as soon as its upload has started.',
    caughtBy: ['FMB-10', 'BSW-09'],
    tamper: () => {
      const begun = new Set<string>()
      return [
        onRequest(write, ({ resourceName }) => {
          const { hash } = sizeIn(resourceName)
          if (hash !== undefined) begun.add(hash)
        }),
        onResponse(findMissingBlobs, (response) => {
          response.missingBlobDigests = response.missingBlobDigests.filter(({ hash }) => !begun.has(hash))
        }),
      ]
    },
  },
]
