/**
 * Monotonic time, in milliseconds, that is read once for a turn of the event loop and not for each who asks. Reading the
 * clock takes 30 to 100 ns, and a call that asks two stores would do it six times.
 */
let readMs: number | undefined
let isForgetting = false

const forget = (): void => {
  readMs = undefined
  isForgetting = false
}

/** The time now, which `turnMs` answers from here on to the end of the turn. */
export const freshMs = (): number => {
  const ms = performance.now()
  readMs = ms
  if (!isForgetting) {
    isForgetting = true
    // Runs behind what this turn has to do, and before the loop sleeps: a turn that a timer began would else last until it wakes.
    setImmediate(forget)
  }
  return ms
}

/** The time when it was last read in this turn. */
export const turnMs = (): number => readMs ?? freshMs()
