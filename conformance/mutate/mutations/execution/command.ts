import { execute } from '../../../wire/methods.js'
import { onAction } from '../../execution.js'
import { ended, instead, type Mutation } from '../../mutation.js'

export const commandMutations: readonly Mutation[] = [
  {
    name: 'command-run-by-shell',
    breaks: 'The arguments of a command are joined and given to a shell.',
    caughtBy: ['CMD-01'],
    tamper: () =>
      onAction(({ command }) => {
        command.arguments = ['/bin/sh', '-c', command.arguments.join(' ')]
      }),
  },
  {
    name: 'command-path-not-searched',
    breaks: 'Programs are not looked up in the PATH of the command.',
    caughtBy: ['CMD-26'],
    tamper: () =>
      onAction(({ command }) => {
        const [program = ''] = command.arguments
        if (!program.includes('/')) command.arguments[0] = `./${program}`
      }),
  },
  {
    name: 'environment-dropped',
    breaks: 'The environment of the worker wins over what a command declares.',
    caughtBy: ['CMD-02'],
    tamper: () =>
      onAction(({ command }) => {
        for (const variable of command.environmentVariables) if (variable.name === 'HOME') variable.value = '/root'
      }),
  },
  {
    name: 'working-directory-ignored',
    breaks: 'Commands run in the input root whatever their working_directory.',
    caughtBy: ['CMD-03'],
    tamper: () =>
      onAction(({ command }) => {
        command.workingDirectory = ''
      }),
  },
  {
    name: 'output-parents-not-made',
    breaks: 'The parent directories of outputs are not made beforehand.',
    caughtBy: ['CMD-05'],
    tamper: () =>
      onAction(({ command }) => {
        command.outputPaths = command.outputPaths.filter((path) => !path.includes('/'))
      }),
  },
  {
    name: 'output-made-beforehand',
    breaks: 'Outputs themselves are made as directories before the command runs.',
    caughtBy: ['CMD-05'],
    tamper: () =>
      onAction(({ command }) => {
        command.outputPaths.push(...command.outputPaths.map((path) => `${path}/made`))
      }),
  },
  {
    name: 'output-legacy-fields-win',
    breaks: 'output_paths is ignored when the legacy fields are set.',
    caughtBy: ['CMD-06'],
    tamper: () =>
      onAction(({ command }) => {
        if (command.outputFiles.length > 0) command.outputPaths = []
      }),
  },
  {
    name: 'output-legacy-fields-ignored',
    breaks: 'The legacy output_files and output_directories are ignored.',
    caughtBy: ['CMD-07', 'OUT-09', 'CMD-08'],
    tamper: () =>
      onAction(({ command }) => {
        command.outputFiles = []
        command.outputDirectories = []
      }),
  },
  {
    name: 'output-paths-ignored',
    breaks: 'output_paths is announced by the version and ignored.',
    caughtBy: ['CAP-03', 'OUT-01', 'OUT-08'],
    tamper: () =>
      onAction(({ command }) => {
        command.outputPaths = []
      }),
  },
  {
    name: 'input-executable-lost',
    breaks: 'Input files are not made executable.',
    caughtBy: ['CMD-13'],
    tamper: () =>
      onAction(({ root }) => {
        for (const file of root.files) file.isExecutable = false
      }),
  },
  {
    name: 'input-symlinks-left-out',
    breaks: 'Dangling input symlinks are left out.',
    caughtBy: ['CMD-14'],
    tamper: () =>
      onAction(({ root }) => {
        const beside = new Set([...root.files, ...root.directories, ...root.symlinks].map(({ name }) => name))
        root.symlinks = root.symlinks.filter(({ target }) => beside.has(target))
      }),
  },
  {
    name: 'input-empty-directories-left-out',
    breaks: 'Empty input directories are not made.',
    caughtBy: ['CMD-14'],
    tamper: () =>
      onAction(({ root }) => {
        root.directories = root.directories.filter(({ name }) => name !== 'empty')
      }),
  },
  {
    name: 'input-symlink-made-relative',
    breaks: 'Absolute input symlinks are made relative.',
    caughtBy: ['CMD-20'],
    tamper: () =>
      onAction(({ root }) => {
        for (const link of root.symlinks) link.target = link.target.replace(/^\//, '')
      }),
  },
  {
    name: 'platform-of-command-ignored',
    breaks: 'An Action without platform is refused, whatever the platform of its Command.',
    caughtBy: ['CMD-16'],
    tamper: () =>
      onAction(({ action, command }) => {
        action.platform ??= { properties: [{ name: 'no-such-property', value: '' }] }
        command.platform = null
      }),
  },
  {
    name: 'platform-ignored',
    breaks: 'Actions run on any worker, whatever properties they ask for.',
    caughtBy: ['EXE-32'],
    tamper: () =>
      onAction(({ action, command }) => {
        action.platform = { properties: [] }
        command.platform = null
      }),
  },
  {
    name: 'unknown-property-queued',
    breaks: 'An action with an unknown property waits for a worker that does not exist.',
    caughtBy: ['EXE-31'],
    waitsMs: 15_000,
    tamper: () =>
      onAction(({ action }) => {
        for (const property of action.platform?.properties ?? []) {
          if (!property.name.startsWith('conformance-')) continue
          property.name = 'OSFamily'
          property.value = 'none'
        }
      }),
  },
  {
    name: 'platform-of-command-preferred',
    breaks: 'The platform of the Command is preferred to that of the Action.',
    caughtBy: ['CMD-16'],
    waitsMs: 20_000,
    tamper: () =>
      onAction(({ action, command }) => {
        action.platform = command.platform ?? action.platform
      }),
  },
  {
    name: 'salt-ignored',
    breaks: 'Actions that differ in their salt share a result.',
    caughtBy: ['CMD-19'],
    tamper: () =>
      onAction(({ action }) => {
        action.salt = Buffer.alloc(0)
      }),
  },
  {
    name: 'timeout-not-part-of-key',
    breaks: 'Actions that differ in their timeout share a result.',
    caughtBy: ['CMD-25'],
    tamper: () =>
      onAction(({ action }) => {
        action.timeout = null
      }),
  },
  {
    name: 'priorities-refused',
    breaks: 'Actions of other priorities than 0 are refused though ranges are announced.',
    caughtBy: ['CAP-16'],
    tamper: () => instead(execute, (request) => (request?.executionPolicy?.priority ? ended(3) : undefined)),
  },
]
