import { type SimpleSettings, simpleSettings } from '../../src/scheduler/simple/settings.js'

/** The settings that follow from the defaults of the schema. */
export const defaultSettings: SimpleSettings = simpleSettings({
  supported_platform_properties: new Map(),
  retain_completed_for_s: 60,
  client_action_timeout_s: 60,
  worker_timeout_s: 5,
  max_action_executing_timeout_s: 0,
  unacknowledged_kill_timeout_s: 60,
  max_job_retries: 3,
  worker_failures_in_a_row: 3,
  worker_backoff_s: 10,
  allocation_strategy: 'least_recently_used',
  worker_match_logging_interval_s: 300,
  fallback_match_interval_s: 5,
  no_worker_timeout_s: 60,
  max_queued_actions: 100_000,
  max_queued_actions_per_instance: 0,
  max_running_actions_per_instance: 0,
  priority_ageing_s: 60,
  hold_worker_after_s: 30,
  warm_worker_wait_ms: 200,
  learned_sizes: { use: 'hint', memory_property: 'memory_kb', cpu_property: 'cpu_count' },
  adopt_attempts_for_s: 60,
})
