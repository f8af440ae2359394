import { SymlinkAbsolutePathStrategy } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import {
  execute,
  failureOf,
  onWorkers,
  outputFile,
  readDigest,
  resultOf,
  run,
  uploadAction,
} from '../../material/action.js'
import { canonicalTarget, UNUSUAL, UNUSUAL_TARGETS } from '../../material/edges.js'
import { byBytes } from '../../material/input-tree.js'
import { takesLinks } from '../../material/operation.js'
import type { Check } from '../../requirements/check.js'

const fileChecks: readonly Check[] = [
  {
    id: 'OUT-01',
    sends: 'A command that writes a file; an OutputFile with the path as requested, its digest and mode.',
    run: async (exam) => {
      const { result } = await run(exam, { script: 'mkdir -p x; printf abc > x/y', command: { outputPaths: ['x/y'] } })
      exam.expectEqual(
        result.outputFiles.map(({ path, isExecutable }) => [path, isExecutable]),
        [['x/y', false]],
        'path and is_executable',
      )
      exam.expectEqual((await outputFile(exam, result, 'x/y')).toString(), 'abc', 'the content')
    },
  },
  {
    id: 'OUT-13',
    sends: 'A fifo as an output, alone and in a directory; left out or FAILED_PRECONDITION, and the action ends.',
    run: async (exam) => {
      const command = { outputPaths: ['d', 'pipe'] }
      const { actionDigest } = await uploadAction(exam, {
        script: 'mkfifo pipe; rmdir d 2>/dev/null; mkdir d; mkfifo d/pipe',
        command,
        outputDirectories: ['d'],
      })
      const execution = await execute(exam, actionDigest)
      const { code, message } = failureOf(execution)
      exam.expect(code === 0 || code === 9, 'OK or FAILED_PRECONDITION', `code ${code} ${message}`)
      exam.chose(code === 0 ? 'leaves special files out' : 'refuses special files')
      if (code === 0) exam.expectEqual(resultOf(exam, execution).outputFiles.length, 0, 'the number of output files')
    },
  },
  {
    id: 'OUT-14',
    sends: 'A file and a directory as outputs; each has its digest.',
    run: async (exam) => {
      const { result } = await run(exam, {
        script: 'echo > f; mkdir -p d; echo > d/g',
        command: { outputPaths: ['d', 'f'] },
        outputDirectories: ['d'],
      })
      const files = result.outputFiles.every(({ digest }) => digest !== null)
      const directories = result.outputDirectories.every(({ treeDigest }) => treeDigest !== null)
      exam.observed('every output has its digest', files && directories)
      exam.expect(files && directories, 'a digest on every output', JSON.stringify({ files, directories }))
    },
  },
  {
    id: 'OUT-15',
    isBulky: true,
    sends: 'A command that writes 24 MiB; the output is in the CAS.',
    run: async (exam) => {
      const command = { outputPaths: ['big'] }
      const { result } = await run(exam, { script: 'head -c 25165824 /dev/urandom > big', command })
      const digest = exam.present(result.outputFiles[0]?.digest, 'a digest')
      exam.expectTrue(digest.sizeBytes, 25_165_824, 'the size')
      exam.expectTrue(await exam.missing([digest]), [], 'what is missing')
      exam.expectDigest(await readDigest(exam, digest), digest, 'the digest of the output as it is read')
    },
  },
]

const symlinkChecks: readonly Check[] = [
  {
    id: 'OUT-08',
    needs: ['api:2.1'],
    mayRefuse: UNUSUAL,
    sends:
      'Symlinks named in output_paths, many of them dangling; output_symlinks with the targets, at most without `.`.',
    run: async (exam) => {
      const targets = ['f', '../no/where', ...UNUSUAL_TARGETS]
      const script = 'echo > f; i=100; for t do ln -s -- "$t" "link$i"; i=$((i+1)); done'
      const outputPaths = targets.map((_, at) => `link${100 + at}`)
      const { result } = await run(exam, {
        arguments: ['/bin/sh', '-c', script, 'sh', ...targets],
        command: { outputPaths },
      })
      const links = result.outputSymlinks.map(({ path, target }) => `${path}=${canonicalTarget(target)}`)
      exam.expectEqual(
        links.sort(byBytes),
        targets.map((target, at) => `${outputPaths[at]}=${canonicalTarget(target)}`),
        'output_symlinks',
      )
    },
  },
  {
    id: 'OUT-09',
    needs: ['below:2.1'],
    sends: 'Symlinks named in the legacy fields; in the legacy lists, whether or not in output_symlinks too.',
    run: async (exam) => {
      const script = 'echo > f; ln -s f file; rmdir dir 2>/dev/null; mkdir -p real; ln -s real dir'
      const { result } = await run(exam, { script, command: { outputFiles: ['file'], outputDirectories: ['dir'] } })
      const links = [...result.outputFileSymlinks, ...result.outputDirectorySymlinks]
      const legacy = links.map(({ target }) => target)
      const current = result.outputSymlinks.map(({ target }) => target).sort()
      exam.observed('fills the legacy lists for legacy commands', legacy.join() === 'f,real')
      exam.observed('fills output_symlinks for legacy commands', current.join() === 'f,real')
      exam.expectEqual(
        links.map(({ path, target }) => `${path} -> ${target}`),
        ['file -> f', 'dir -> real'],
        'the legacy lists',
      )
      exam.chose(current.length === 2 ? 'fills output_symlinks as well' : 'fills the legacy lists only')
    },
  },
  {
    id: 'OUT-10',
    sends: 'An absolute symlink as an output where those are disallowed; FAILED_PRECONDITION.',
    run: async (exam) => {
      if (!(await takesLinks(exam))) exam.notApplicable('the server accepts no symlink as an output; see OUT-08')
      const strategy = exam.capabilities.cacheCapabilities?.symlinkAbsolutePathStrategy
      const command = { outputPaths: ['link'] }
      const { actionDigest } = await uploadAction(exam, { script: 'ln -s /etc/x link', command })
      const execution = await execute(exam, actionDigest)
      if (strategy === SymlinkAbsolutePathStrategy.ALLOWED) {
        const [link] = resultOf(exam, execution).outputSymlinks
        exam.expectEqual(link?.target, '/etc/x', 'the target, where absolute ones are allowed')
        return exam.chose('allows absolute targets, and reports them')
      }
      const { code } = failureOf(execution)
      exam.expect(code === 9, 'FAILED_PRECONDITION', `code ${code}`)
    },
  },
]

export const outputChecks: readonly Check[] = onWorkers([...fileChecks, ...symlinkChecks])
