import type { Exam } from '../../exam/exam.js'
import {
  type ActionPlan,
  codeAtPriority,
  execute,
  executeRequest,
  executionOf,
  onWorkers,
  resultOf,
  run,
  uploadAction,
} from '../../material/action.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

/**
 * An executable action may queue behind others; one that cannot run is recognised because it does not run in this time.
 */
const LONG_MS = 20_000
const SHORT_MS = 3_000

/** Whether an action with these properties runs within this time; a queued one is cancelled. */
const runsWith = async (exam: Exam, plan: ActionPlan, deadlineMs = SHORT_MS): Promise<boolean> => {
  const { actionDigest } = await uploadAction(exam, plan)
  const outcome = await exam.call(methods.execute, executeRequest(exam, actionDigest), { deadlineMs })
  const { response, name } = executionOf(outcome)
  if (outcome.code === 4 && name !== '') await exam.call(methods.cancelOperation, { name })
  return response?.result != null && (response.status?.code ?? 0) === 0
}

/** A property of the candidate that selects workers, and a value that no worker has. */
const selecting = async (exam: Exam) => {
  const [property] = exam.candidate.properties
  const { name, value } = property ?? exam.notApplicable('needs --property')
  const others = exam.candidate.properties.slice(1)
  const wrong = [...others, { name, value: `none-${exam.uuid()}` }]
  if (await runsWith(exam, { actionProperties: wrong, commandProperties: wrong })) {
    exam.notApplicable(`${name} does not select workers`)
  }
  return { name, value, others, wrong }
}

const platformChecks: readonly Check[] = [
  {
    id: 'CMD-16',
    waitsFor: 'actions that must not run within 3 s',
    sends: 'Properties only on the Command; right ones on the Action and wrong ones on the Command; both run.',
    run: async (exam) => {
      const { wrong } = await selecting(exam)
      const fallback = await runsWith(exam, { actionProperties: null }, LONG_MS)
      exam.expect(fallback, 'the platform of the Command to apply without one on the Action', 'no run')
      const preferred = await runsWith(exam, { commandProperties: wrong }, LONG_MS)
      exam.expect(preferred, 'the Action to be preferred', 'no run')
      const reversed = await runsWith(exam, { actionProperties: wrong, commandProperties: exam.candidate.properties })
      exam.expect(!reversed, 'no run with wrong properties on the Action', 'a run')
    },
  },
  {
    id: 'CMD-17',
    waitsFor: 'actions that must not run within 3 s',
    sends: 'One property twice, with a value that a worker has and one that none has; whether it runs.',
    run: async (exam) => {
      const { name, value, others } = await selecting(exam)
      const both = [...others, { name, value }, { name, value: `none-${exam.uuid()}` }]
      const ran = await runsWith(exam, { actionProperties: both, commandProperties: both })
      exam.chose(ran ? 'takes one of several values of a property' : 'wants all values of a property to hold')
    },
  },
  {
    id: 'CMD-18',
    waitsFor: 'actions that must not run within 3 s',
    sends: 'A property whose name, then whose value, is in another case; whether either runs.',
    run: async (exam) => {
      const { name, value, others } = await selecting(exam)
      const swapped = (text: string): string => (text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase())
      if (swapped(value) !== value) {
        const properties = [...others, { name, value: swapped(value) }]
        const ran = await runsWith(exam, { actionProperties: properties, commandProperties: properties })
        exam.chose(`takes ${swapped(value)} ${ran ? 'for' : 'apart from'} ${value}`)
      }
      const properties = [...others, { name: swapped(name), value }]
      const ran = await runsWith(exam, { actionProperties: properties, commandProperties: properties })
      exam.chose(`takes ${swapped(name)} ${ran ? 'for' : 'apart from'} ${name}`)
    },
  },
  {
    id: 'CAP-03',
    sends: 'Features of the announced version: output_paths from 2.1 on, Action.platform from 2.2 on; they work.',
    run: async (exam) => {
      const { major = 0, minor = 0 } = exam.capabilities.highApiVersion ?? {}
      exam.chose(`announces ${major}.${minor}`)
      if (major === 2 && minor === 0) return
      const { result } = await run(exam, {
        script: 'echo > f; mkdir -p d',
        command: { outputPaths: ['d', 'f'] },
        outputDirectories: ['d'],
      })
      exam.expectEqual([result.outputFiles.length, result.outputDirectories.length], [1, 1], 'what is collected')
      if (major === 2 && minor === 1) return
      const prepared = await uploadAction(exam, { commandProperties: null })
      resultOf(exam, await execute(exam, prepared.actionDigest))
    },
  },
  {
    id: 'CAP-17',
    sends: 'An action that asks for every announced node property; it runs.',
    run: async (exam) => {
      const outputNodeProperties = exam.capabilities.executionCapabilities?.supportedNodeProperties ?? []
      if (outputNodeProperties.length === 0) return exam.chose('supports no node properties')
      await run(exam, { script: 'echo > f', command: { outputPaths: ['f'], outputNodeProperties } })
      exam.chose(`supports node properties ${outputNodeProperties.join(', ')}`)
    },
  },
  {
    id: 'CAP-16',
    sends: 'The ends of the announced priority ranges, or 0 where none is announced; accepted.',
    run: async (exam) => {
      const ranges = exam.capabilities.executionCapabilities?.executionPriorityCapabilities?.priorities ?? []
      const ends = ranges.flatMap(({ minPriority, maxPriority }) => [minPriority, maxPriority])
      for (const priority of ends.length === 0 ? [0] : ends) {
        exam.expectEqual(await codeAtPriority(exam, priority), 0, `the code for priority ${priority}`)
      }
      exam.chose(ends.length === 0 ? 'announces no priorities' : `announces priorities ${ends.join(', ')}`)
    },
  },
]

export const platformAndVersionChecks: readonly Check[] = onWorkers(platformChecks)
