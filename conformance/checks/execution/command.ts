import { SymlinkAbsolutePathStrategy } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { digestOf, type Exam } from '../../exam/exam.js'
import {
  type ActionPlan,
  execute,
  expectRefusal,
  failureOf,
  onWorkers,
  outputFile,
  outputText,
  prepareAction,
  RANDOM_LINE,
  readBlob,
  responseOf,
  run,
  uploadAction,
} from '../../material/action.js'
import { get } from '../../material/action-cache.js'
import { directory, file, symlink } from '../../material/input-tree.js'
import { codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'

const stdoutOf = async (exam: Exam, plan: ActionPlan): Promise<string> =>
  outputText(exam, (await run(exam, plan)).result, 'stdout')

/** Lists every entry below the working directory with its kind and content. */
const LISTING = `find . ! -path . | while IFS= read -r p; do
  if [ -L "$p" ]; then echo "l $p $(readlink "$p")"
  elif [ -d "$p" ]; then echo "d $p"
  elif [ -x "$p" ]; then echo "x $p $(cat "$p")"
  else echo "f $p $(cat "$p")"; fi; done`

const environmentChecks: readonly Check[] = [
  {
    id: 'CMD-01',
    sends: 'A program with an absolute path, with $ and * in an argument; it runs without a shell.',
    run: async (exam) => {
      exam.expectEqual(
        await stdoutOf(exam, { arguments: ['/bin/echo', '$HOME *'] }),
        '$HOME *\n',
        'stdout of /bin/echo',
      )
    },
  },
  {
    id: 'CMD-26',
    needs: ['api:2.3'],
    sends: 'Programs named relative to the working directory, and by a bare name that is in PATH; both run.',
    run: async (exam) => {
      exam.expectEqual(await stdoutOf(exam, { arguments: ['echo', 'b'] }), 'b\n', 'stdout of echo, by PATH')
      const tool = file(`#!/bin/sh\n# ${exam.uuid()}\necho tool\n`, true)
      const inputs = { sub: directory({ tool }) }
      const command = { workingDirectory: 'sub' }
      exam.expectEqual(await stdoutOf(exam, { arguments: ['./tool'], inputs, command }), 'tool\n', 'stdout of ./tool')
    },
  },
  {
    id: 'CMD-02',
    sends: 'A command that prints its environment; what was declared is there as declared.',
    run: async (exam) => {
      const plan = { arguments: ['/usr/bin/env'], environment: { HOME: '/declared', ODD: 'a=b c' } }
      const lines = (await stdoutOf(exam, plan)).trim().split('\n')
      for (const line of ['HOME=/declared', 'ODD=a=b c', 'PATH=/bin:/usr/bin']) {
        exam.expect(lines.includes(line), line, lines.join(' ').slice(0, 300))
      }
      const declared = ['HOME', 'ODD', 'PATH', 'CONFORMANCE_RUN']
      const others = lines.map((line) => line.split('=')[0] ?? '').filter((name) => !declared.includes(name))
      exam.chose(others.length === 0 ? 'adds no variables' : `adds ${others.join(', ')}`)
    },
  },
  {
    id: 'CMD-03',
    sends: 'A working directory in the input tree; used. An absent one; rejected or run.',
    run: async (exam) => {
      const inputs = { a: directory({ b: directory({ f: file(exam.uuid()) }) }) }
      const command = { workingDirectory: 'a/b' }
      const where = (await stdoutOf(exam, { script: 'pwd; ls', inputs, command })).trim()
      exam.expect(/\/a\/b\nf$/.test(where), 'a directory that ends in a/b and holds f', where)
      const unusual = '\u00dcber  \u{1f980} %41 '
      const twins = { f: file(exam.uuid()), [unusual]: directory({ 'a b': directory({ g: file(exam.uuid()) }) }) }
      const deep = { command: { workingDirectory: `${unusual}/a b`, outputPaths: ['o'] }, inputs: twins }
      const { result } = await run(exam, { ...deep, script: 'cat g; : > o' })
      exam.expectEqual((await outputText(exam, result, 'stdout')).length, 36, 'the length of g in that directory')
      exam.expectEqual(
        result.outputFiles.map(({ path }) => path),
        ['o'],
        'the outputs of a deep directory',
      )
      const { actionDigest } = await uploadAction(exam, { command: { workingDirectory: 'nosuch' } })
      const { code } = failureOf(await execute(exam, actionDigest))
      exam.chose(`answers ${codeName(code)} for an absent working directory`)
    },
  },
  {
    id: 'CMD-04',
    sends: 'Working directory a, output path x; a/x is collected under the path x.',
    run: async (exam) => {
      const inputs = { a: directory({ f: file(exam.uuid()) }) }
      const command = { workingDirectory: 'a', outputPaths: ['x'] }
      const { result } = await run(exam, { script: 'echo inner > x; echo outer > ../x', inputs, command })
      exam.expectEqual((await outputFile(exam, result, 'x')).toString(), 'inner\n', 'the output')
    },
  },
  {
    id: 'CMD-05',
    sends: 'An output path two levels down; its parents exist beforehand, the output does not.',
    run: async (exam) => {
      const command = { outputPaths: ['p/q/out'] }
      const { result } = await run(exam, { script: 'test -d p/q && test ! -e p/q/out && echo 1 > p/q/out', command })
      exam.expectEqual((await outputFile(exam, result, 'p/q/out')).toString(), '1\n', 'the output')
    },
  },
  {
    id: 'CMD-12',
    sends: 'A command that makes one file more than it declares; only the declared one is in the result.',
    run: async (exam) => {
      const { result } = await run(exam, { script: 'echo 1 > a; echo 2 > b', command: { outputPaths: ['a'] } })
      exam.expectEqual(
        result.outputFiles.map(({ path }) => path),
        ['a'],
        'the paths',
      )
    },
  },
  {
    id: 'CMD-13',
    sends: 'Executable and plain inputs, executable and plain outputs; all keep their modes.',
    run: async (exam) => {
      const inputs = { x: file(`#!/bin/sh\n# ${exam.uuid()}\n`, true), y: file(exam.uuid()) }
      const script = 'test -x x && test ! -x y && echo > o && chmod +x o && echo > p && chmod -x p'
      const { result } = await run(exam, { script, inputs, command: { outputPaths: ['o', 'p'] } })
      const modes = result.outputFiles.map(({ path, isExecutable }) => `${path} ${isExecutable}`).sort()
      exam.expectEqual(modes, ['o true', 'p false'], 'is_executable of the outputs')
    },
  },
  {
    id: 'CMD-14',
    sends: 'Input symlinks, one of them dangling, and an empty directory; all are present unchanged.',
    run: async (exam) => {
      const inputs = {
        f: file(exam.uuid()),
        link: symlink('f'),
        dangling: symlink('no/such/target'),
        sub: directory({ up: symlink('../f'), g: file(exam.uuid()) }),
        empty: directory({}),
      }
      const script = 'readlink link dangling sub/up; ls -A empty || echo gone; cmp -s f sub/up && echo same'
      const said = await stdoutOf(exam, { script, inputs })
      exam.expectEqual(said, 'f\nno/such/target\n../f\nsame\n', 'what the action sees')
    },
  },
  {
    id: 'CMD-27',
    sends:
      'An input root of files, modes, symlinks and empty directories, listed by the action; exactly these entries.',
    run: async (exam) => {
      const texts = [exam.uuid(), exam.uuid(), exam.uuid()]
      const inputs = {
        '.hidden': file(texts[0] ?? ''),
        'a b': directory({ run: file(texts[1] ?? '', true), empty: directory({}), up: symlink('../.hidden') }),
        deep: directory({ er: directory({ f: file(texts[2] ?? '') }) }),
        dangling: symlink('no/such/target'),
        none: file(''),
        void: directory({}),
      }
      const said = await stdoutOf(exam, { script: LISTING, inputs })
      const expected = [
        'd ./a b',
        'd ./a b/empty',
        'd ./deep',
        'd ./deep/er',
        'd ./void',
        `f ./.hidden ${texts[0]}`,
        `f ./deep/er/f ${texts[2]}`,
        'f ./none ',
        'l ./a b/up ../.hidden',
        'l ./dangling no/such/target',
        `x ./a b/run ${texts[1]}`,
      ]
      exam.expectEqual(said.trimEnd().split('\n').sort(), expected.sort(), 'the entries of the input root')
    },
  },
  {
    id: 'CMD-15',
    sends: 'An action that writes to its input, then a reader of that input; the blob is unchanged.',
    run: async (exam) => {
      const bytes = Buffer.from(exam.uuid())
      const inputs = { f: file(bytes) }
      const script = 'chmod +w f 2>/dev/null; echo changed > f || true; rm -f f; echo other > f; true'
      await run(exam, { script, inputs })
      exam.expectBytes(await readBlob(exam, digestOf(bytes)), bytes, 'the blob')
      exam.expectEqual(
        await stdoutOf(exam, { script: 'cat f', inputs }),
        bytes.toString(),
        'what the next action reads',
      )
    },
  },
  {
    id: 'CMD-20',
    sends: 'An input symlink to /etc where absolute targets are disallowed; INVALID_ARGUMENT.',
    run: async (exam) => {
      const inputs = { link: symlink('/etc'), f: file(exam.uuid()) }
      const strategy = exam.capabilities.cacheCapabilities?.symlinkAbsolutePathStrategy
      if (strategy === SymlinkAbsolutePathStrategy.ALLOWED) {
        const target = await stdoutOf(exam, { script: 'readlink link', inputs })
        exam.expectEqual(target, '/etc\n', 'the target, where absolute ones are allowed')
        return exam.chose('allows absolute targets, and keeps them')
      }
      await expectRefusal(exam, { inputs }, 3)
    },
  },
  {
    id: 'CMD-23',
    sends: 'A Command without arguments; INVALID_ARGUMENT.',
    run: async (exam) => {
      await expectRefusal(exam, { arguments: [] }, 3)
    },
  },
  {
    id: 'CMD-24',
    sends: 'A command that reads stdin and leaves a child of 20 s behind; stdin is empty, and the action ends soon.',
    run: async (exam) => {
      const startMs = performance.now()
      const said = await stdoutOf(exam, { script: 'wc -c; sleep 20 & echo left' })
      exam.expectEqual(said.replaceAll(/ /g, ''), '0\nleft\n', 'stdout')
      const elapsedMs = performance.now() - startMs
      exam.expectInTime(elapsedMs < 15_000, 'an end before that of the child', `after ${Math.round(elapsedMs)} ms`)
    },
  },
]

const keyChecks: readonly Check[] = [
  {
    id: 'CMD-19',
    sends: 'One command in two actions with different salts; two runs, two cached results.',
    run: async (exam) => {
      const environment = { CONFORMANCE_RUN: exam.uuid() }
      const plan = { script: RANDOM_LINE, environment }
      const a = await run(exam, { ...plan, salt: Buffer.from('a') })
      const b = await run(exam, { ...plan, salt: Buffer.from('b') })
      exam.expect(!responseOf(exam, b.execution).cachedResult, 'a run for the second salt', 'a cache hit')
      const outputs = [await outputText(exam, a.result, 'stdout'), await outputText(exam, b.result, 'stdout')]
      exam.expect(outputs[0] !== outputs[1], 'two outputs', 'one')
    },
  },
  {
    id: 'CMD-25',
    sends: 'One command in actions with timeouts of 10 s and 20 s; the second is not a cache hit.',
    run: async (exam) => {
      const environment = { CONFORMANCE_RUN: exam.uuid() }
      const plan = { script: RANDOM_LINE, environment }
      await run(exam, { ...plan, timeoutMs: 10_000 })
      const second = { ...plan, timeoutMs: 20_000 }
      const { code } = await get(exam, prepareAction(exam, second).actionDigest)
      exam.expect(code === 5 || code === 12, 'no entry for the second timeout', `code ${code}`)
      const { execution } = await run(exam, second)
      exam.expect(!responseOf(exam, execution).cachedResult, 'a run for the second timeout', 'a cache hit')
    },
  },
]

export const commandChecks: readonly Check[] = onWorkers([...environmentChecks, ...keyChecks])
