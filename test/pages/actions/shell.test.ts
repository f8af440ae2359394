import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { shellCommand } from '../../../src/pages/actions/shell.js'
import { codec } from '../../../src/proto/codec.js'

const commandCodec = codec('build.bazel.remote.execution.v2.Command')

// Bytes of any kind but NUL, which no program can get.
const words = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !text.includes('\0'))

t.test('a shell runs the command with exactly its arguments and its environment', async (t) => {
  await fc.assert(
    fc.property(fc.array(words, { maxLength: 4 }), words, (more, value) => {
      const program = ['-e', 'console.log(JSON.stringify([process.argv.slice(1), process.env]))', '--']
      const command = commandCodec.decode(
        commandCodec.encode({
          arguments: [process.execPath, ...program, ...more],
          environmentVariables: [{ name: 'A_B', value }],
        }),
      )
      const said = JSON.parse(execFileSync('/bin/sh', ['-c', shellCommand(command)], { encoding: 'utf8' }))
      t.strictSame(said, [command.arguments.slice(4), { A_B: command.environmentVariables[0]?.value }])
    }),
    {
      numRuns: 25,
      examples: [[["it's", '$HOME `id` "x"', '', "''", '\n', '\\', '!x', '~', '*'].filter(Boolean), "a'b"]],
    },
  )
  const place = commandCodec.decode(commandCodec.encode({ arguments: ['pwd', '-P'], workingDirectory: 'a b/$c' }))
  t.equal(shellCommand(place), "cd 'a b/$c' && env -i \\\n  pwd \\\n  -P\n")
})
