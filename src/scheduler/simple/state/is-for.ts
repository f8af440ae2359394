import type { ExecutionRequest } from '../../request.js'
import type { RunFacts } from '../../scheduler.js'
import type { Execution } from './state.js'

/** Whether the outcome of a run is one for a client that joined it. Everybody may have what a trusted caller may have. */
export const isFor = (
  request: ExecutionRequest | undefined,
  { scope }: Execution,
  run: RunFacts | undefined,
): boolean => request === undefined || scope === '' || (request.scope ?? '') === scope || run?.isConfined === true
