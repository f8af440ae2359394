// tap, as test files import it. An error that nobody catches fails the innermost test that runs, because a file runs its tests one
// after the other. tap's own way finds the test that began the work: a hook follows each promise, for a tenth of the CPU.
import t from 'tap'

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

export * from 'tap'
export default t
