import t from 'tap'
import { innermost } from '../../src/config/innermost.js'
import { parseConfig } from '../../src/config/load.js'
import { type SimpleSettings, simpleSettings } from '../../src/scheduler/simple/settings.js'
import { defaultSettings } from './settings.js'

const settingsOf = (options: object): SimpleSettings => {
  const memory = { memory: { eviction_policy: { max_bytes: 1 } } }
  const services = { execution: [{ cas_store: 'CAS', scheduler: 'S' }], worker_api: { scheduler: 'S' } }
  const servers = [{ listener: { http: { socket_address: ':1' } }, services }]
  const text = JSON.stringify({ stores: { CAS: memory }, schedulers: { S: { simple: options } }, servers })
  const { config, problems } = parseConfig(text, 'x')
  const simple = innermost(config?.schedulers.get('S'))
  if (simple === undefined) throw new Error(problems.map(({ message }) => message).join('\n'))
  return simpleSettings(simple)
}

/** Each key with a value other than its default, and the one setting that it changes. */
const CASES: readonly (readonly [object, Partial<SimpleSettings>])[] = [
  [{ retain_completed_for_s: 11 }, { retainCompletedForMs: 11_000 }],
  [{ client_action_timeout_s: 12 }, { clientActionTimeoutMs: 12_000 }],
  [{ worker_timeout_s: 13 }, { workerTimeoutMs: 13_000 }],
  [{ max_action_executing_timeout_s: 14 }, { maxActionExecutingTimeoutMs: 14_000 }],
  [{ unacknowledged_kill_timeout_s: 15 }, { unacknowledgedKillTimeoutMs: 15_000 }],
  [{ max_job_retries: 0 }, { maxJobRetries: 0 }],
  [{ allocation_strategy: 'most_recently_used' }, { allocationStrategy: 'most_recently_used' }],
  [{ worker_match_logging_interval_s: -1 }, { workerMatchLoggingIntervalMs: undefined }],
  [{ worker_match_logging_interval_s: 16 }, { workerMatchLoggingIntervalMs: 16_000 }],
  [{ fallback_match_interval_s: 0 }, { fallbackMatchIntervalMs: undefined }],
  [{ fallback_match_interval_s: 17 }, { fallbackMatchIntervalMs: 17_000 }],
  [{ no_worker_timeout_s: 0 }, { noWorkerTimeoutMs: undefined }],
  [{ no_worker_timeout_s: 18 }, { noWorkerTimeoutMs: 18_000 }],
  [{ max_queued_actions: 19 }, { maxQueuedActions: 19 }],
  [{ max_queued_actions_per_instance: 20 }, { maxQueuedActionsPerInstance: 20 }],
  [{ max_running_actions_per_instance: 21 }, { maxRunningPerInstance: 21 }],
  [
    { learned_sizes: { use: 'on', memory_property: 'ram', cpu_property: '' } },
    { learnedSizes: { use: 'on', memory: 'ram', cpu: '' } },
  ],
  [{ warm_worker_wait_ms: 50 }, { warmWorkerWaitMs: 50 }],
  [{ priority_ageing_s: 22 }, { priorityAgeingMs: 22_000 }],
  [{ priority_ageing_s: 0 }, { priorityAgeingMs: undefined }],
  [{ hold_worker_after_s: 23 }, { holdWorkerAfterMs: 23_000 }],
  [{ adopt_attempts_for_s: 0 }, { adoptForMs: 0 }],
  [{ adopt_attempts_for_s: 24 }, { adoptForMs: 24_000 }],
  [
    { supported_platform_properties: { cpu: 'minimum', '*': 'ignore' } },
    {
      supportedPlatformProperties: new Map([
        ['cpu', 'minimum'],
        ['*', 'ignore'],
      ]),
    },
  ],
]

t.test('each key of a simple scheduler changes one setting; the defaults are those of the tests', async (t) => {
  t.strictSame(settingsOf({}), defaultSettings)
  for (const [options, changed] of CASES) {
    t.strictSame(settingsOf(options), { ...defaultSettings, ...changed }, JSON.stringify(options))
  }
})
