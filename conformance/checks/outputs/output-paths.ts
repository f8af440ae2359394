import {
  execute,
  expectFailure,
  expectRefusal,
  failureOf,
  onWorkers,
  readBlob,
  resultOf,
  run,
  uploadAction,
} from '../../material/action.js'
import { file } from '../../material/input-tree.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'

const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

export const outputPathChecks: readonly Check[] = onWorkers([
  {
    id: 'CMD-06',
    needs: ['api:2.1'],
    sends: 'output_paths beside the legacy fields; only output_paths count.',
    run: async (exam) => {
      const command = { outputPaths: ['a'], outputFiles: ['b'], outputDirectories: ['c'] }
      const { result } = await run(exam, { script: 'echo > a; echo > b; mkdir -p c', command })
      const paths = [...result.outputFiles, ...result.outputDirectories].map(({ path }) => path)
      exam.expectEqual(paths, ['a'], 'the paths')
    },
  },
  {
    id: 'CMD-07',
    needs: ['below:2.1'],
    sends: 'Only the legacy output_files and output_directories; both are collected.',
    run: async (exam) => {
      const command = { outputFiles: ['b'], outputDirectories: ['c'] }
      const { result } = await run(exam, { script: 'echo > b; mkdir -p c && echo > c/f', command })
      exam.expectEqual(
        result.outputFiles.map(({ path }) => path),
        ['b'],
        'the paths of output files',
      )
      exam.expectEqual(
        result.outputDirectories.map(({ path }) => path),
        ['c'],
        'the paths of output directories',
      )
    },
  },
  {
    id: 'CMD-08',
    needs: ['below:2.1'],
    sends: 'output_directories that names a file; FAILED_PRECONDITION. The reverse; the same, or the directory.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: 'mkdir x', command: { outputFiles: ['x'] } })
      const execution = await execute(exam, actionDigest)
      if (failureOf(execution).code === 0) {
        const directories = resultOf(exam, execution).outputDirectories.map(({ path }) => path)
        exam.expectEqual(directories, ['x'], 'the paths of output directories')
        exam.chose('takes a directory for an output file')
      } else {
        expectFailure(exam, execution, 9)
        exam.chose('refuses a directory for an output file')
      }
      await expectRefusal(exam, { script: 'rmdir y 2>/dev/null; echo > y', command: { outputDirectories: ['y'] } }, 9)
    },
  },
  {
    id: 'CMD-09',
    sends: 'An output that is not made; OK without it.',
    run: async (exam) => {
      const { result } = await run(exam, { script: 'echo > a', command: { outputPaths: ['a', 'never'] } })
      exam.expectEqual(
        result.outputFiles.map(({ path }) => path),
        ['a'],
        'the paths',
      )
    },
  },
  {
    id: 'CMD-10',
    sends: 'Output paths that are absolute, end in a slash, or leave by ..; refused.',
    run: async (exam) => {
      for (const path of ['/tmp/conformance-output', 'a/', '../../outside']) {
        await expectRefusal(exam, { command: { outputPaths: [path] } })
      }
    },
  },
  {
    id: 'CMD-11',
    sends: 'The output path ""; the whole working directory is captured, as a directory with path "".',
    run: async (exam) => {
      const inputs = { given: file(exam.uuid()) }
      const { result } = await run(exam, {
        script: 'echo > made',
        inputs,
        command: { outputPaths: [''] },
        outputDirectories: [''],
      })
      const [output] = result.outputDirectories
      exam.expectEqual(output?.path, '', 'the path')
      const tree = treeCodec.decode(await readBlob(exam, exam.present(output?.treeDigest, 'a tree_digest')))
      const names = (tree.root?.files ?? []).map(({ name }) => name)
      exam.expect(names.includes('made'), 'the file made', names.join(', '))
    },
  },
  {
    id: 'CMD-21',
    needs: ['api:2.2'],
    sends: 'An unknown output node property; INVALID_ARGUMENT.',
    run: async (exam) => {
      await expectRefusal(exam, { command: { outputNodeProperties: [`nosuch-${exam.uuid()}`] } }, 3)
    },
  },
  {
    id: 'CMD-22',
    sends: 'mtime and unix_mode as output node properties; reported if announced.',
    run: async (exam) => {
      const announced = exam.capabilities.executionCapabilities?.supportedNodeProperties ?? []
      const outputNodeProperties = ['mtime', 'unix_mode'].filter((name) => announced.includes(name))
      if (outputNodeProperties.length === 0) exam.notApplicable('the server announces neither')
      const command = { outputPaths: ['f'], outputNodeProperties }
      const { result } = await run(exam, { script: 'echo > f; chmod 640 f', command })
      const properties = result.outputFiles[0]?.nodeProperties
      exam.chose(`reports mtime ${properties?.mtime != null}, unix_mode ${properties?.unixMode?.value}`)
    },
  },
  {
    id: 'OUT-17',
    sends: 'A file of mode 640 and known mtime, with every announced node property requested; reported unchanged.',
    run: async (exam) => {
      const announced = exam.capabilities.executionCapabilities?.supportedNodeProperties ?? []
      const outputNodeProperties = ['mtime', 'unix_mode'].filter((name) => announced.includes(name))
      if (outputNodeProperties.length === 0) exam.notApplicable('the server announces neither mtime nor unix_mode')
      const command = { outputPaths: ['f'], outputNodeProperties }
      const script = 'echo > f; chmod 640 f; touch -d @1600000000 f'
      const { result } = await run(exam, { script, command })
      const { mtime, unixMode } = result.outputFiles[0]?.nodeProperties ?? {}
      if (announced.includes('mtime')) exam.expectEqual(mtime?.seconds, 1_600_000_000, 'the seconds of mtime')
      if (announced.includes('unix_mode')) exam.expectEqual((unixMode?.value ?? 0) & 0o777, 0o640, 'unix_mode')
    },
  },
])
