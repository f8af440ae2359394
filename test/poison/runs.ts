import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { bazel, LAST } from '../builds/harness.js'

import { type FakeWorker, OPERATIONS } from '../service/execution-harness.js'
import { until } from '../until.js'
import { type Try, told, viewOfResult } from './caches.js'
import {
  about,
  actionOf,
  type Caller,
  execute,
  give,
  lifecycleEvents,
  POISON,
  toolEvent,
  upload,
  type World,
} from './world.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const TRUTH = 'the truth'

type Start = Awaited<ReturnType<FakeWorker['start']>>

const report = (worker: FakeWorker, start: Start, text: string, confined: boolean): void =>
  worker.report(start, { confined, executeResponse: { result: { stdoutRaw: Buffer.from(text) } } })

const FLAGS: Readonly<Record<string, object>> = {
  plain: {},
  skip_cache_lookup: { skipCacheLookup: true },
  priority: { executionPolicy: { priority: -1000 } },
  'skip and priority': { skipCacheLookup: true, executionPolicy: { priority: 1000 } },
  inlined: { inlineStdout: true, inlineOutputFiles: ['out'] },
}

/** Runs of the branch on workers that do not confine them, whose result the branch therefore chooses. */
export function* executions(): Generator<Try> {
  let number = 0
  for (const doNotCache of [false, true]) {
    for (const [flag, more] of Object.entries(FLAGS)) {
      for (const saysConfined of [false, true]) {
        for (const isThere of [true, false]) {
          const built = actionOf(`run ${++number}`, { action: { doNotCache } })
          yield {
            name: `Execute ${flag}${doNotCache ? ', do_not_cache' : ''}, the result ${isThere ? 'there' : 'absent'}, ${saysConfined ? 'a report' : 'a worker'} that is not confined`,
            prepare: async ({ ci }) => {
              await upload(ci, built)
              if (isThere) await give(ci, built, TRUTH)
            },
            view: (world) => viewOfResult(world, built),
            attack: async ({ branch, worker }) => {
              // Only both say that a run was confined.
              const runner = await worker({ confined: !saysConfined, knowsScopes: true })
              const running = execute(branch, built, more)
              const started = runner.start().then((start) => report(runner, start, POISON, saysConfined))
              await Promise.race([running, started])
              await running
              runner.stream.end()
            },
          }
        }
      }
    }
  }
}

/** Confined runs of the branch, repeated until one ends as it wants: what is shared already stays. */
export function* repeated(): Generator<Try> {
  let number = 0
  for (const [flag, more] of Object.entries(FLAGS)) {
    if (!('skipCacheLookup' in more)) continue
    const built = actionOf(`repeated ${++number}`)
    yield {
      name: `Execute ${flag} of a result that is shared, confined, with another end`,
      prepare: async ({ ci }) => {
        await upload(ci, built)
        await give(ci, built, TRUTH)
      },
      view: (world) => viewOfResult(world, built),
      attack: async ({ branch, worker }) => {
        const runner = await worker({ confined: true, knowsScopes: true })
        const running = execute(branch, built, more)
        report(runner, await runner.start(), POISON, true)
        await running
        runner.stream.end()
      },
    }
  }
}

/** A run of the branch that the trusted caller asks for meanwhile: the result that it gets is part of the view. */
export function* joined(): Generator<Try> {
  let number = 0
  for (const [flag, more] of Object.entries(FLAGS)) {
    for (const confined of [false, true]) {
      for (const order of ['before', 'queued'] as const) {
        const built = actionOf(`joined ${++number}`)
        const got: string[] = []
        yield {
          name: `a trusted caller joins, ${flag}, worker ${confined ? 'confined until then' : 'not confined'}, ${order}`,
          prepare: ({ ci }) => upload(ci, built),
          // Its own run gives the truth.
          view: async () => got.filter((text) => text !== TRUTH),
          attack: async ({ ci, branch, boss, worker }) => {
            const asked = async (count: number): Promise<void> => {
              await until(async () => (await unfinished(boss)) === count, `${count} operations`)
            }
            const mine = execute(branch, built, more)
            await asked(1)
            const theirs = order === 'queued' ? execute(ci, built) : undefined
            if (theirs !== undefined) await asked(2)
            const runner = await worker({ confined, knowsScopes: true })
            const start = await runner.start()
            const joins = theirs ?? execute(ci, built)
            await asked(2)
            const serving = told(answerAll(runner))
            report(runner, start, start.scope?.name === '' ? TRUTH : POISON, false)
            got.push(await joins)
            await mine
            runner.stream.end()
            await serving
          },
        }
      }
    }
  }
}

const unfinished = async (boss: Caller): Promise<number> => {
  const { operations } = await boss.unary(`${OPERATIONS}/ListOperations`, { name: 'main/operations' })
  return operations.filter(({ done }: { readonly done: boolean }) => !done).length
}

/** Runs the actions of trusted callers rightly, and others as the branch wants, until the stream of the worker ends. */
const answerAll = async (runner: FakeWorker): Promise<void> => {
  const start = await runner.start()
  report(runner, start, start.scope?.name === '' ? TRUTH : POISON, false)
  await answerAll(runner)
}

/** Attempts that a worker brings from an earlier scheduler, of the branch, or of nobody knows whom. */
export function* adopted(): Generator<Try> {
  let number = 0
  for (const scope of [{ name: 'refs/pull/branch' }, null]) {
    for (const confined of [false, true]) {
      for (const isAsked of [false, true]) {
        const built = actionOf(`adopted ${++number}`)
        const operation = `main/operations/S/00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
        const got: string[] = []
        yield {
          name: `an attempt brought ${scope === null ? 'without a scope' : 'by the branch'}, ${confined ? 'a confined worker' : 'not confined'}, ${isAsked ? 'asked for' : 'not asked for'} by a trusted caller`,
          prepare: ({ ci }) => upload(ci, built),
          // The trusted run has a result afterwards.
          view: async (world) => [
            isAsked ? '' : await viewOfResult(world, built),
            got.filter((text) => text !== TRUTH),
          ],
          attack: async ({ ci, worker }) => {
            const theirs = isAsked ? execute(ci, built, { skipCacheLookup: true }) : undefined
            const attempt = {
              ...{ attemptId: `brought-${number}`, operationName: operation, scope },
              ...about(built),
              properties: [],
            }
            const runner = await worker({
              ...{ confined, knowsScopes: true, attemptIds: [attempt.attemptId], attempts: [attempt] },
            })
            runner.report({ attemptId: attempt.attemptId } as never, {
              ...{ confined: false, executeResponse: { result: { stdoutRaw: Buffer.from(POISON) } } },
            })
            if (theirs !== undefined) {
              const start = await runner.start()
              report(runner, start, TRUTH, false)
              got.push(await theirs)
            }
            await runner.next('resultAck')
            runner.stream.end()
          },
        }
      }
    }
  }
}

/** The branch as a worker: it may `work`, by its rules. */
export function* workers(): Generator<Try> {
  const hellos: Readonly<Record<string, object>> = {
    plain: {},
    confined: { confined: true, knowsScopes: true },
    'by the name of another': { name: 'w', workerId: 'w-1' },
    'with a key of stores': { storeKey: 'x'.repeat(36) },
    'with many slots': { maxInflightAttempts: 1000 },
    'with properties': { properties: [{ name: 'OSFamily', values: ['Linux'] }] },
  }
  let number = 0
  for (const [what, hello] of Object.entries(hellos)) {
    const built = actionOf(`worker ${++number}`)
    yield {
      name: `the branch as a worker, ${what}`,
      prepare: ({ ci }) => upload(ci, built),
      view: async (world) => [
        await viewOfResult(world, built),
        world.said.text.match(/a worker connected.*branch/g)?.length ?? 0,
      ],
      attack: async ({ worker }) => {
        const bad = await worker(hello, 'branch')
        const start = await bad.start()
        report(bad, start, POISON, true)
      },
    }
  }
}

/** Operations of the trusted caller: their names cannot be guessed, and a branch that learned one must not forge an outcome. */
export function* operations(): Generator<Try> {
  for (const method of ['CancelOperation', 'DeleteOperation', 'GetOperation', 'WaitOperation', 'ListOperations']) {
    for (const name of ['main/operations', 'main/operations/S/guessed', 'main/operations/S/']) {
      const built = actionOf(`operation ${method} ${name}`)
      yield {
        name: `${method} of ${name}`,
        prepare: async ({ ci }) => {
          await upload(ci, built)
          await give(ci, built, TRUTH)
        },
        view: async (world) => [await viewOfResult(world, built), await execute(world.ci, built)],
        attack: ({ branch }) => branch.unary(`${OPERATIONS}/${method}`, { name }),
      }
    }
  }
}

const eventOf = (text: string): Buffer => bazel({ progress: { stderr: text } })

const publish = (caller: Caller, id: string, texts: readonly string[], isFinished: boolean) => {
  const all = [...texts.map(eventOf), ...(isFinished ? [LAST] : [])]
  return caller.publish(
    'PublishBuildToolEventStream',
    all.map((event, at) => toolEvent(id, at + 1, event)),
  )
}

/** What a trusted reader sees of a build and of the list of builds. Times pass, so only texts count. */
const viewOfBuild = async ({ get }: World, id: string): Promise<unknown> => {
  const read = async (path: string) => {
    const { answer, text } = await get(path, { authorization: 'Bearer ci' })
    return [answer.status, text.includes(POISON), /scope refs/.test(text) && !path.startsWith('/?')]
  }
  return Promise.all(
    [`/invocation/${id}`, `/invocation/${id}/log`, `/invocation/${id}?instance=main`, `/invocation/${id}/cache`].map(
      read,
    ),
  )
}

/** Events and requests that name the build of a trusted caller. */
export function* builds(): Generator<Try> {
  let number = 0
  const ways: Readonly<Record<string, (branch: Caller, id: string) => Promise<unknown>>> = {
    'events from the first': (branch, id) => publish(branch, id, [POISON, POISON], false),
    'events to the end': (branch, id) => publish(branch, id, [POISON], true),
    'later events': (branch, id) =>
      branch.publish('PublishBuildToolEventStream', [toolEvent(id, 2, eventOf(POISON)), toolEvent(id, 3, LAST)]),
    'a lifecycle event': (branch, id) =>
      branch.unary(
        'google.devtools.build.v1.PublishBuildEvent/PublishLifecycleEvent',
        lifecycleEvents.encode({
          projectId: 'main',
          buildEvent: {
            streamId: { buildId: 'b', invocationId: id, component: 1 },
            sequenceNumber: 1,
            event: { invocationAttemptStarted: { attemptNumber: 1 } },
          },
        } as never),
      ),
    'requests that name it': (branch, id) =>
      branch.unary(`build.bazel.remote.execution.v2.ActionCache/GetActionResult`, about(actionOf(`of ${id}`)), {
        [REQUEST_METADATA]: metadataCodec.encode({ toolInvocationId: id, targetId: POISON }),
      }),
    'results that name it': (branch, id) =>
      branch.unary(
        'build.bazel.remote.execution.v2.ActionCache/UpdateActionResult',
        { ...about(actionOf(`of ${id}`)), actionResult: { stdoutRaw: Buffer.from(POISON) } },
        { [REQUEST_METADATA]: metadataCodec.encode({ toolInvocationId: id, targetId: POISON }) },
      ),
  }
  for (const [way, attack] of Object.entries(ways)) {
    for (const state of ['running', 'finished', 'cache only'] as const) {
      const id = `build-${++number}`
      yield {
        name: `a build that ${state === 'cache only' ? 'sends no events' : `is ${state}`}: ${way}`,
        prepare: async ({ ci }) => {
          const named = { [REQUEST_METADATA]: metadataCodec.encode({ toolInvocationId: id, targetId: '//:right' }) }
          const ask = 'build.bazel.remote.execution.v2.ActionCache/GetActionResult'
          await told(ci.unary(ask, about(actionOf(`asked by ${id}`)), named))
          if (state !== 'cache only') await publish(ci, id, ['right'], state === 'finished')
        },
        view: (world) => viewOfBuild(world, id),
        attack: ({ branch }) => attack(branch, id),
      }
    }
  }
}
