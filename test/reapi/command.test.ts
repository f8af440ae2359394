import t from 'tap'
import { isStatus } from '../../src/base/status-error.js'
import type { Command } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { requestedOutputs, validateCommand, workingDirectory } from '../../src/reapi/command.js'

const command = (parts: Partial<Command>): Command => ({
  arguments: ['/bin/true'],
  environmentVariables: [],
  outputFiles: [],
  outputDirectories: [],
  platform: null,
  workingDirectory: '',
  outputPaths: [],
  outputNodeProperties: [],
  outputDirectoryFormat: 0,
  ...parts,
})

const refused: readonly [title: string, parts: Partial<Command>, message: RegExp][] = [
  ['CMD-23 no arguments', { arguments: [] }, /arguments is empty/],
  ['CMD-23 an empty program', { arguments: ['', 'x'] }, /arguments is empty/],
  ['NUL in an argument', { arguments: ['a', 'b\0c'] }, /arguments: "b\\u0000c"/],
  ['an unnamed variable', { environmentVariables: [{ name: '', value: 'x' }] }, /environment_variables: name ""/],
  ['a variable named A=B', { environmentVariables: [{ name: 'A=B', value: 'x' }] }, /name "A=B"/],
  ['NUL in a variable', { environmentVariables: [{ name: 'A', value: '\0' }] }, /environment_variables "A"/],
  [
    'CMD-21 an unknown node property',
    { outputNodeProperties: ['nosuch'] },
    /"nosuch" is not supported, expected mtime/,
  ],
  ['CMD-10 an absolute output path', { outputPaths: ['/etc/x'] }, /output_paths: "\/etc\/x"/],
  ['CMD-10 a trailing slash', { outputPaths: ['x/'] }, /no slash at the end/],
  ['CMD-10 an escaping path', { outputPaths: ['../x'] }, /inside the input root/],
  ['CMD-10 a path that escapes later', { outputPaths: ['a/../../x'] }, /"\.\." only at its beginning/],
  [
    'a path by another directory',
    { outputPaths: ['a/../x'] },
    /"a\/\.\.\/x" is not valid, expected "\.\." only at its/,
  ],
  ['CMD-10 an empty segment', { outputFiles: ['a//x'] }, /"a\/\/x" is not valid, expected a single slash/],
  ['a file that is the working directory', { outputFiles: ['./.'] }, /expected the path of a file/],
  ['CMD-10 legacy file', { outputFiles: ['/x'] }, /output_files/],
  ['CMD-10 legacy directory', { outputDirectories: ['../..'], workingDirectory: 'a' }, /output_directories/],
  ['CMD-10 a nameless file', { outputFiles: [''] }, /output_files: ""/],
  ['NUL in an output', { outputPaths: ['a\0'] }, /no NUL/],
  ['CMD-03 an absolute working directory', { workingDirectory: '/tmp' }, /working_directory: "\/tmp"/],
  ['CMD-03 an escaping working directory', { workingDirectory: 'a/../..' }, /working_directory/],
]

for (const [title, parts, message] of refused) {
  t.test(`refuses ${title}`, async (t) => {
    try {
      validateCommand(command(parts))
      t.fail('was accepted')
    } catch (error) {
      t.ok(isStatus(error, 'INVALID_ARGUMENT'))
      t.match(error, { message })
    }
  })
}

t.test('accepts valid commands', async () => {
  validateCommand(command({ outputNodeProperties: ['unix_mode', 'mtime'], outputPaths: ['', 'a', 'b/c'] }))
  validateCommand(command({ outputFiles: ['a'], outputDirectories: [''] }))
  validateCommand(command({ workingDirectory: 'a/b', outputPaths: ['../x'] }))
})

t.test('CMD-04 output paths are relative to the working directory', async (t) => {
  t.same(requestedOutputs(command({ workingDirectory: 'a/', outputPaths: ['x', './y', '../z', '', 'x'] })), [
    { path: 'x', rootPath: 'a/x', kind: 'any' },
    { path: './y', rootPath: 'a/y', kind: 'any' },
    { path: '../z', rootPath: 'z', kind: 'any' },
    { path: '', rootPath: 'a', kind: 'any' },
  ])
  t.equal(workingDirectory(command({ workingDirectory: './a//b/' })), 'a/b')
  t.equal(workingDirectory(command({ workingDirectory: '.' })), '')
})

t.test('CMD-06 output_paths silences the legacy fields', async (t) => {
  const parts = { outputPaths: ['p'], outputFiles: ['f'], outputDirectories: ['d'] }
  t.same(requestedOutputs(command(parts)), [{ path: 'p', rootPath: 'p', kind: 'any' }])
})

t.test('CMD-07 legacy fields state the type of the output', async (t) => {
  t.same(requestedOutputs(command({ outputFiles: ['f'], outputDirectories: ['d', ''] })), [
    { path: 'f', rootPath: 'f', kind: 'file' },
    { path: 'd', rootPath: 'd', kind: 'directory' },
    { path: '', rootPath: '', kind: 'directory' },
  ])
})
