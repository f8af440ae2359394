import type { CacheSeries } from '../../metrics/store-metrics.js'
import type { FailedAction } from '../../scheduler/scheduler.js'
import type { Visit } from '../page.js'
import { msData, textData, timeData } from '../parts/data.js'
import type { ActiveAction } from './operations.js'

/** The state of a server, as JSON. */

/** An action that runs, waits or failed. */
export const operationData =
  (visit: Visit) =>
  (one: ActiveAction | FailedAction): object => {
    const seesWho = visit.request.visitor?.maySeeOrigins(one.instance ?? '') ?? true
    const facts = {
      ...{ action: one.action, instance: one.instance, invocation: textData(one.invocation) },
      target: textData(one.target),
      mnemonic: textData(one.mnemonic),
      tool: textData(one.tool),
      identity: seesWho ? textData(one.identity) : undefined,
      worker: textData(one.worker),
    }
    if ('endedMs' in one)
      return {
        ...facts,
        ...{ result: one.result, exitCode: one.exitCode, code: one.code, reason: textData(one.reason) },
        ...{ response: one.response, stdout: one.stdout, stderr: one.stderr },
        endedAt: timeData(one.endedMs),
        tookMs: msData(one.tookMs),
      }
    return {
      ...facts,
      state: one.state,
      since: timeData(one.sinceMs),
      waitsFor: textData(one.waitsFor),
      attempts: one.attempts,
      priority: one.priority,
    }
  }

export const storeData = (series: CacheSeries): object => ({
  store: series.cacheType,
  sizeBytes: series.sum(({ sizeBytes }) => sizeBytes),
  maxBytes: series.sum(({ maxBytes }) => maxBytes),
  blobs: series.sum(({ entryCount }) => entryCount),
  evicted: series.sum(({ evictedCount }) => evictedCount),
  hits: series.valueOf('read', 'hit'),
  misses: series.valueOf('read', 'miss'),
  errors: series.valueOf('read', 'error') + series.valueOf('write', 'error'),
  inBytes: series.bytesOf('in'),
  outBytes: series.bytesOf('out'),
})
