import fc from 'fast-check'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import type { ActionResult } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { checkOutputs } from '../../src/reapi/action-result.js'
import { requestedOutputs } from '../../src/reapi/command.js'

const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const isTaken = (work: () => void): boolean => {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/** Whether a Command may ask for the path, and whether results may have it: as a directory, and as a file or a symlink. */
const answers = (workingDirectory: string, path: string) => {
  const ask = (fields: object): boolean =>
    isTaken(() => requestedOutputs(commandCodec.decode(commandCodec.encode({ workingDirectory, ...fields }))))
  const has = (fields: object): boolean =>
    isTaken(() => checkOutputs(resultCodec.decode(resultCodec.encode(fields)) as ActionResult, workingDirectory))
  return {
    asked: [ask({ outputPaths: [path] }), ask({ outputDirectories: [path] }), ask({ outputFiles: [path] })],
    stored: [
      has({ outputDirectories: [{ path }] }),
      has({ outputFiles: [{ path }] }),
      has({ outputSymlinks: [{ path, target: 't' }] }),
    ],
  }
}

t.test('what an action may be asked for can be in its result, and nothing else', async (t) => {
  const segment = fc.constantFrom('a', 'b', '.', '..', '', 'a b', '...', '\0')
  const path = fc.array(segment, { maxLength: 5 }).map((segments) => segments.join('/'))
  const property = fc.property(fc.constantFrom('', 'a', 'a/b'), path, (cwd, path) => {
    const { asked, stored } = answers(cwd, path)
    const [anything, directory, file] = asked
    const isSame = anything === directory && directory === stored[0] && file === stored[1] && file === stored[2]
    if (!isSame) throw new Error(`${JSON.stringify(path)} in ${JSON.stringify(cwd)}: ${asked} and ${stored}`)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }))
})

t.test('paths that clients send are taken, those with two meanings are not', (t) => {
  for (const path of ['o', './o', 'a/./o', 'a/b', '../o', '../../o', '', '.', 'a b', '..o', 'a/..o'])
    t.equal(answers('a/b', path).asked[0], true, path)
  for (const path of ['a//o', '//', '/o', 'o/', 'a/../o', './../o', '../a/../o', '../../../o', 'a\0'])
    t.equal(answers('a/b', path).asked[0], false, path)
  t.end()
})
