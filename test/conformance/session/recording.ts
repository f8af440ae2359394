import { hostname } from 'node:os'
import type { Test } from 'tap'
import { openCandidate } from '../../../conformance/exam/candidate.js'
import type { Exam } from '../../../conformance/exam/exam.js'
import { execute, resultOf, uploadAction } from '../../../conformance/material/action.js'
import { file } from '../../../conformance/material/input-tree.js'
import { settingsOf } from '../../../conformance/record/arguments.js'
import { record } from '../../../conformance/record/record.js'
import * as methods from '../../../conformance/wire/methods.js'

export const open = async (t: Test, address: string) => {
  const candidate = await openCandidate({ address, instanceName: '', properties: [], headers: {}, tls: {} })
  t.teardown(() => candidate.client.close())
  return candidate
}

/** Records within this process: one that starts anew takes seconds of a busy machine. */
export const recording = async (t: Test, upstream: string, ...args: readonly string[]) => {
  const settings = settingsOf(['--listen', '127.0.0.1:0', '--upstream', upstream, ...args])
  if (settings === 'help') throw new Error('nobody asked for help')
  const notes: string[] = []
  let tellToStop: () => void = () => {}
  const stop = new Promise<void>((resolve) => {
    tellToStop = resolve
  })
  t.teardown(() => tellToStop())
  let listening: (address: string) => void = () => {}
  const address = new Promise<string>((resolve) => {
    listening = resolve
  })
  const written = record(settings, { stop, onListening: listening, onNote: (note) => notes.push(note) })
  // `stop` reports how it ended; until then an early failure is reported with the address.
  written.catch(() => {})
  return {
    address: await Promise.race([address, written.then(() => 'ended before it listened')]),
    notes,
    finish: (): Promise<number> => {
      tellToStop()
      return written
    },
  }
}

export const SALTED = Buffer.from('salt-0000000000000000 in a blob\n')
export const LARGE = Buffer.from(SALTED.toString().repeat(2_000))
const SCRIPT = 'tr a-z A-Z < words.txt > upper.txt; echo said'

/** A client as any on grpc-js: misses the cache, uploads, runs an action, and reads what came of it. */
export const useServer = async (t: Test, exam: Exam): Promise<void> => {
  const plan = { script: SCRIPT, inputs: { 'words.txt': file(SALTED) }, command: { outputPaths: ['upper.txt'] } }
  const [small, large] = [exam.digest(SALTED), exam.digest(LARGE)]
  t.same(await exam.missing([small]), [`${small.hash}/${small.sizeBytes}`])
  t.equal((await exam.write(LARGE, { chunkBytes: 10_000 })).code, 0)
  const { actionDigest } = await uploadAction(exam, plan)
  const request = { instanceName: '', actionDigest }
  t.equal((await exam.call(methods.getActionResult, request)).code, 5, 'an error is passed on')
  const [made] = resultOf(exam, await execute(exam, actionDigest)).outputFiles
  const upper = await exam.read(exam.readName(exam.present(made?.digest, 'a digest')))
  t.equal(upper.data.toString(), SALTED.toString().toUpperCase())
  t.ok((await exam.read(exam.readName(large))).data.equals(LARGE), 'and so are many bytes, unchanged')
}

/** A client that only caches and uploads no inputs. Of its second action not even the Action is uploaded. */
export const useCache = async (t: Test, exam: Exam): Promise<void> => {
  const made = Buffer.from(SALTED.toString().toUpperCase())
  const commandDigest = exam.digest(exam.message('build.bazel.remote.execution.v2.Command', COMMAND))
  const inputRootDigest = exam.digest(Buffer.from('a tree that is never uploaded'))
  const action = exam.message('build.bazel.remote.execution.v2.Action', { commandDigest, inputRootDigest })
  for (const [index, actionDigest] of [exam.digest(action), exam.digest(Buffer.from('an action'))].entries()) {
    const asked = { instanceName: '', actionDigest }
    t.equal((await exam.call(methods.getActionResult, asked)).code, 5)
    const digest = exam.digest(made)
    t.equal((await exam.missing([digest])).length, index === 0 ? 1 : 0)
    const blobs = [made, exam.message('build.bazel.remote.execution.v2.Command', COMMAND), action]
    if (index === 0) await exam.upload(...blobs)
    const actionResult = {
      outputFiles: [{ path: 'upper.txt', digest }],
      executionMetadata: { worker: hostname(), workerStartTimestamp: { seconds: 1_700_000_000, nanos: 0 } },
    }
    t.equal((await exam.call(methods.updateActionResult, { ...asked, actionResult })).code, 0)
    const [answer] = (await exam.call(methods.getActionResult, asked)).responses
    t.equal(answer?.outputFiles[0]?.digest?.hash, digest.hash)
    t.ok((await exam.read(exam.readName(digest))).data.equals(made))
  }
}

const COMMAND = { arguments: ['/bin/sh', '-c', 'tr a-z A-Z < words.txt > upper.txt'], outputPaths: ['upper.txt'] }
