const refuse = {
  value: (): never => {
    throw new TypeError('a configuration cannot be changed')
  },
}

/** Freezes a value and everything in it, including Maps, which Object.freeze does not protect. */
export const deepFreeze = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (value instanceof Map) {
    for (const inner of value.values()) deepFreeze(inner)
    Object.defineProperties(value, { set: refuse, delete: refuse, clear: refuse })
  } else {
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return Object.freeze(value)
}
