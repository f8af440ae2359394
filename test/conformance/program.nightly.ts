import t, { type Test } from 'tap'
import { mutations } from '../../conformance/mutate/mutations.js'
import { MutatingProxy } from '../../conformance/mutate/proxy/proxy.js'
import { settingsOf } from '../../conformance/run/arguments.js'
import { conformance, type Ended } from './program.js'
import { parseXml } from './report/xml.js'
import { startServer } from './server.js'

// The program as a server's author runs it, against the server built from this checkout. A whole run is in whole-run.test.ts.
// For changes in: conformance, src/proto

t.setTimeout(120_000)
const address = await startServer(t)

t.test('the formats', async (t) => {
  const only = ['--only', 'HLT-02,EXE-27,INS-07', '--quiet']
  const [text, junit, markdown] = await Promise.all([
    conformance(address, ...only),
    conformance(address, ...only, '--format', 'junit'),
    conformance(address, ...only, '--format', 'markdown', '--server-name', 'ours'),
  ])
  t.match(text.stdout, /3 checks in [\d.]+ s, \d+ MiB at the peak\n/)
  t.match(text.stdout, /Buck2\n {2}EXE-27 message of a timeout is execution timeout exceeded/)
  t.equal(text.stderr, '')
  t.equal(parseXml(junit.stdout).filter(({ name }) => name === 'testcase').length, 3)
  t.match(junit.stdout, /<testcase classname="Health and reflection.must" name="HLT-02" time="[\d.]+"><\/testcase>/)
  t.match(junit.stdout, /name="INS-07" [^>]*><skipped message="needs --second-instance-name"\/>/)
  t.match(markdown.stdout, /^# ours\n/)
  t.match(markdown.stdout, /\| Buck2 \| EXE-27 \| message of a timeout: execution timeout exceeded \|/)
})

t.test('one answer is right for one client and wrong for another', async (t) => {
  const { stdout, code } = await conformance(address, '--explain', 'EXE-27', '--quiet')
  t.equal(code, 0)
  t.match(stdout, /requirement: Message of that status/)
  t.match(stdout, /Execution\/Execute\n {4}> \{[^\n]*\n {4}< \{[^\n]*\n(?: {4}< [^\n]*\n)+ {4}= OK/)
  t.match(stdout, /Siso: accepts it/)
  t.match(stdout, /Buck2: reports an error in place of a timeout/)
})

/** What the program says of a server that is wrong in this way. */
const mutated = async (t: Test, name: string, ...args: readonly string[]): Promise<Ended> => {
  const proxy = await MutatingProxy.listen(
    address,
    mutations.find((mutation) => mutation.name === name),
  )
  t.teardown(() => proxy.close())
  return conformance(proxy.address, '--quiet', ...args)
}

t.test('a response that is right for Bazel is wrong for Siso, and the reverse', async (t) => {
  const [timeout, update] = await Promise.all([
    mutated(t, 'timeout-message-changed', '--only', 'EXE-27'),
    mutated(t, 'capabilities-update-not-announced', '--only', 'CAP-08,CAP-20'),
  ])
  t.match(timeout.stdout, /\nSiso\n {2}EXE-27 message of a timeout is [^\n]+: runs the action again without end/)
  t.notMatch(timeout.stdout, /\nBazel\n/, 'Bazel takes any text')
  t.match(update.stdout, /\nBazel up to 7\n {2}CAP-08 update enabled is false: refuses to start/)
  t.notMatch(update.stdout, /\nSiso\n/, 'Siso never updates the action cache')
})

t.test('an expectation that no longer fails fails', async (t) => {
  const folder = t.testdir({
    'list.json5': "[{ id: 'HLT-02', reason: 'was wrong once' }]",
    'typo.json5': "[{ id: 'HLT-99', reason: 'x' }]",
    'merged.json5': "[{ id: 'FMB-04', reason: 'x' }]",
    'reasonless.json5': "[{ id: 'HLT-02' }]",
  })
  const listed = await conformance(address, '--only', 'HLT-02', '--quiet', '--expectations', `${folder}/list.json5`)
  t.equal(listed.code, 1)
  t.match(
    listed.stdout,
    /SURP HLT-02 {2}\[must\] the requirement now holds; remove it from the list; it was listed for: was wrong once/,
  )
  for (const [name, message] of [
    ['typo', /HLT-99 is not in the table/],
    ['merged', /FMB-04 is part of DIG-12 now/],
    ['reasonless', /expected \{ id, reason \}/],
    ['absent', /ENOENT/],
  ] as const) {
    const args = [address, '--expectations', `${folder}/${name}.json5`]
    t.throws(() => settingsOf(args), { name: 'TargetError', message }, name)
  }
})

t.test('an instance that the server does not have', async (t) => {
  const { code, stderr } = await conformance(address, '--instance-name', 'no-such-instance', '--quiet')
  t.equal(code, 2)
  t.match(stderr, /^grpc:\S+: GetCapabilities did not succeed: [A-Z_]+ [^\n]*\n$/)
})

t.test('wrong usage is reported with one reason', async (t) => {
  for (const [args, message] of [
    [[], /^usage: remexec-conformance grpc:/],
    [[address, '--nonsense'], /--nonsense/],
    [[address, '--format', 'xml'], /--format xml: expected text, json, junit, sarif, markdown/],
    [[address, '--only', 'FBM'], /FBM: no check has this id/],
    [[address, '--only', 'FMB-04'], /FMB-04: .* part of DIG-12 now/],
    [[address, '--only', 'BSR-14'], /BSR-14: this row cannot be observed/],
    [[address, '--property', 'x'], /x: expected NAME=VALUE/],
    [[address, '--patience', '0.05'], /--patience 0.05: expected a factor, 0.1 to 99/],
    [[address, '--patience', '0'], /--patience 0: expected a factor/],
    [[address, '--time-limit', '0'], /--time-limit 0: expected seconds/],
    [[address, '--store-size', '64'], /--store-size 64: expected 1mb to 1gb/],
    [[address, '--store-size', '2gb'], /--store-size 2gb: expected 1mb to 1gb/],
  ] as const) {
    t.throws(() => settingsOf(args), { name: 'TargetError', message }, args.join(' '))
  }
  const { code, stderr, stdout } = await conformance(address, '--only', 'FBM')
  t.same([code, stdout], [2, ''])
  t.equal(stderr, 'FBM: no check has this id: it is not in the table of requirements\n')
})
