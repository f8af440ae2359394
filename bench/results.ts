import { readFileSync, writeFileSync } from 'node:fs'
import type { Observation } from './case.js'
import type { Figures } from './measure.js'

/** Of a server of this build, or of the one of `--against`. */
export type BuildObservation = Observation & { readonly build: string }

export type Result = { readonly name: string; readonly seconds: number } & (
  | Figures
  | { readonly observations: readonly BuildObservation[] }
  | { readonly error: string }
)

/** Everything a run has found, as `--json` prints and `--save` writes it. NaN is null there. */
export interface Results {
  readonly startedAt: string
  endedAt: string
  readonly options: {
    readonly rounds: number
    /** Of each build. Absent in files from before --processes. */
    readonly processes?: number
    readonly isQuick: boolean
    /** Absent in files from before --pin. */
    readonly isPinned?: boolean
    readonly clients: number
    readonly target: string | undefined
  }
  readonly generator: string
  /** File systems of what is written: the usual one, and the one of cases that name another. */
  readonly files: string
  readonly results: Result[]
  leftOut: readonly string[]
}

export const asJson = (results: Results): string => `${JSON.stringify(results, undefined, 2)}\n`

export const save = (path: string, results: Results): void => writeFileSync(path, asJson(results))

/** NaN where JSON has null, as it was. */
export const load = (path: string): Results =>
  JSON.parse(readFileSync(path, 'utf8'), (_, value: unknown) => (value === null ? Number.NaN : value))
