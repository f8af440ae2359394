/** A build and its actions while they run. */
import t from 'tap'
import { bazel, progress } from '../builds/harness.js'
import { FakeWorker } from '../service/execution-harness.js'
import { startPages, textIn } from './harness.js'
import { RunningBuild } from './running-build.js'

t.test('a running build shows how far it is, what runs, and the end of its log', async (t) => {
  const server = await startPages(t)
  const build = new RunningBuild(server, 'b-1')
  await build.publish(bazel({ started: { command: 'build' } }))
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join('')
  await build.publish(progress(`${lines}[412 / 1,900] 8 actions running\n`))
  const worker = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
  await build.execute({ name: 'one', target: '//:slow' })
  await worker.start()
  await build.execute({ name: 'two', target: '//:later' })
  const { text } = await server.get('/invocation/b-1')
  const shown = textIn(text)
  t.match(shown, /412 of 1,900 actions, 1 running here, 1 waiting/)
  t.match(shown, /\/\/:slow Genrule/)
  t.match(shown, /line 99/)
  t.notMatch(shown, /line 10 /)
  t.match(text, 'data-live')
  const { progress: told, tail } = JSON.parse((await server.get('/invocation/b-1.json')).text)
  t.match(told, { done: 412, total: 1900, waiting: 1, running: [{ target: '//:slow' }] })
  t.equal(tail.lines.length, 20)
})

t.test('the page of a running action has the end of what it has printed, as its worker tells', async (t) => {
  const server = await startPages(t)
  const build = new RunningBuild(server, 'b-1')
  const worker = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
  const { digest, reader } = await build.execute({ name: 'one' })
  const start = await worker.start()
  const path = `/main/blobs/sha256/action/${digest.hash}-${digest.sizeBytes}`
  const asked = server.get(path)
  const { readPrinted } = await worker.messages.until((message) => message.readPrinted !== null)
  t.match(readPrinted, { attemptId: start.attemptId, stdoutOffset: 0 })
  const stdout = Buffer.from('cut here\n\u001b[31mstill <b>busy</b>\u001b[0m \u202e\n')
  // What another question would get is no answer to this one.
  worker.send({
    printedOutput: { id: (readPrinted?.id ?? 0) + 1, runs: true, stdout: Buffer.from('wrong'), stdoutSize: 5 },
  })
  worker.send({ printedOutput: { id: readPrinted?.id ?? 0, runs: true, stdout, stdoutSize: 1_000_000_000 } })
  const { text } = await asked
  t.match(textIn(text), /It runs now running on w.*still <b>busy<\/b> U\+202E/)
  t.match(textIn(text), /999,999,\d+ bytes above/)
  t.notMatch(text, /cut here|wrong/)
  t.match(text, 'data-live')

  // A worker of an older release does not know the question.
  const silent = server.get(`${path}.json`)
  await worker.messages.until((message) => message.readPrinted !== null)
  const { runningOutput } = JSON.parse((await silent).text)
  t.match(runningOutput, { lines: [] })

  worker.report(start, { executeResponse: { result: { exitCode: 0 } } })
  await reader.until(({ done }) => done)
  t.notMatch((await server.get(path)).text, 'It runs now')
})
