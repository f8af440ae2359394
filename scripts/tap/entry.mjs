// tap, as test files import it, with stacks that name lines of sources.
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findSourceMap } from './module.mjs'

Error.prepareStackTrace = (error, frames) =>
  [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${inSource(frame)}`)].join('\n')

const inSource = (frame) => {
  const [text, file, line, column] = [`${frame}`, frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()]
  // Code that was made from text has no file.
  const map = typeof file !== 'string' || /^node:|\/node_modules\//.test(file) ? undefined : findSourceMap(file)
  const { originalSource, originalLine, originalColumn } = map?.findEntry(line - 1, column - 1) ?? {}
  if (originalSource === undefined) return text
  const path = originalSource.startsWith('file:') ? fileURLToPath(originalSource) : originalSource
  return text.replace(`${file}:${line}:${column}`, () => `${path}:${originalLine + 1}:${originalColumn + 1}`)
}

// An error that nobody catches fails the innermost test that runs, because a file runs its tests one after the other. tap's own way finds
// the test that began the work: a hook follows each promise, for a tenth of the CPU.
process.on('uncaughtException', (thrown, origin) => {
  let running = t
  for (;;) {
    const [inner] = running.activeSubtests
    if (inner === undefined) break
    running = inner
  }
  const error = typeof thrown === 'object' && thrown !== null ? thrown : { error: thrown }
  error.tapCaught = origin
  running.threw(error)
})

// tap removes the folder of a test (testdir) before it runs teardowns, unless a teardown came first. Then stores and servers that a teardown
// closes still write into the folder while it is removed, which fails with ENOTEMPTY.
const isFirst = () => {}
t.teardown(isFirst)
t.beforeEach((test) => test.teardown(isFirst))

// tap keeps the message of an error with a number as its code to itself. Those of gRPC have one.
const told = (error) => {
  if (!(error instanceof Error) || typeof error.code !== 'number') return error
  const { name, stack } = error
  const copy = Object.assign(new Error(error.message, { cause: error.cause }), error, { code: `${error.code}` })
  return Object.defineProperties(copy, { name: { value: name }, stack: { value: stack } })
}
let base = t
while (base !== null && !Object.hasOwn(base, 'threw')) base = Object.getPrototypeOf(base)
const { threw } = base
base.threw = function (error, ...rest) {
  return threw.call(this, told(error), ...rest)
}

export * from 'tap'
export default t
