/** `ok`: looked at, nothing to do. `warning`: works, but not as it should. `error`: does not work. */
export type Level = 'ok' | 'warning' | 'error'

export interface Finding {
  readonly level: Level
  /** What was looked at: `store CAS`, `listener of server public`. */
  readonly subject: string
  readonly message: string
  /** What to do. */
  readonly advice?: string
}

export const ok = (subject: string, message: string): Finding => ({ level: 'ok', subject, message })
export const warning = (subject: string, message: string, advice: string): Finding => ({
  ...{ level: 'warning', subject, message, advice },
})
export const fault = (subject: string, message: string, advice: string): Finding => ({
  ...{ level: 'error', subject, message, advice },
})
