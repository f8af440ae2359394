import {
  BuildEventBuildComponentStreamFinishedFinishType,
  BuildStatusResult,
  StreamIdBuildComponent,
} from '../../../src/proto/generated/google.devtools.build.v1.js'
import type { Need } from '../../exam/candidate.js'
import type { Exam } from '../../exam/exam.js'
import type { Input } from '../../proto/codec.js'
import { timestampOf } from '../../proto/time.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const needs: readonly Need[] = ['build-events']
type Event = Input<'google.devtools.build.v1.BuildEvent'>
type StreamId = Input<'google.devtools.build.v1.StreamId'>

const toolStream = (exam: Exam): StreamId => ({
  buildId: exam.uuid(),
  invocationId: exam.uuid(),
  component: StreamIdBuildComponent.TOOL,
})

const bazelEvent = (text: string): Event => ({
  bazelEvent: { typeUrl: 'type.googleapis.com/build_event_stream.BuildEvent', value: Buffer.from(text) },
})

const FINISHED: Event = {
  componentStreamFinished: { type: BuildEventBuildComponentStreamFinishedFinishType.FINISHED },
}

const ordered = (streamId: StreamId, sequenceNumber: number, event: Event) => ({
  orderedBuildEvent: { streamId, sequenceNumber, event: { eventTime: timestampOf(Date.now()), ...event } },
  projectId: 'conformance',
})

/** Sends these events on one call; returns the acknowledged numbers and the final code. */
const publish = async (exam: Exam, messages: readonly ReturnType<typeof ordered>[]) => {
  const outcome = await exam.call(methods.publishBuildToolEventStream, messages)
  return { outcome, acks: outcome.responses.map(({ sequenceNumber }) => sequenceNumber) }
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)

const events = (streamId: StreamId, from: number, to: number) =>
  numbers(from, to).map((at) => ordered(streamId, at, bazelEvent(`event ${at}`)))

const lifecycle = (exam: Exam, streamId: StreamId, sequenceNumber: number, event: Event) =>
  exam.call(methods.publishLifecycleEvent, {
    buildEvent: { streamId, sequenceNumber, event: { eventTime: timestampOf(Date.now()), ...event } },
    projectId: 'conformance',
  })

export const buildEventChecks: readonly Check[] = [
  {
    id: 'BES-01',
    sends: '100 events on one stream; each is acknowledged with its stream and number, in order.',
    needs,
    run: async (exam) => {
      const streamId = toolStream(exam)
      const { outcome, acks } = await publish(exam, [...events(streamId, 1, 99), ordered(streamId, 100, FINISHED)])
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(acks, numbers(1, 100), 'the numbers acknowledged')
      for (const { streamId: of } of outcome.responses) exam.expectEqual(of?.buildId, streamId.buildId, 'the build')
    },
  },
  {
    id: 'BES-02',
    sends: 'Events one by one, then a half-close; the stream stays open until then and ends OK with all acknowledged.',
    needs,
    run: async (exam) => {
      const streamId = toolStream(exam)
      const stream = exam.open(methods.publishBuildToolEventStream)
      for (const message of events(streamId, 1, 5)) {
        await stream.send(message)
        const ack = exam.present(await stream.next(), 'an acknowledgement')
        exam.expectEqual(ack.sequenceNumber, message.orderedBuildEvent.sequenceNumber, 'the number')
      }
      await stream.send(ordered(streamId, 6, FINISHED))
      stream.halfClose()
      const outcome = await stream.outcome
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses.length, 6, 'the number of acknowledgements')
    },
  },
  {
    id: 'BES-03',
    sends: 'Events 1 to 60, then 50 to 70 on a new call, then 80; acknowledged again, and a gap refused.',
    needs,
    run: async (exam) => {
      const streamId = toolStream(exam)
      const first = await publish(exam, events(streamId, 1, 60))
      exam.expectEqual(first.acks, numbers(1, 60), 'the numbers acknowledged first')
      const again = await publish(exam, events(streamId, 50, 70))
      exam.expectCode(again.outcome, 'OK')
      exam.expectEqual(again.acks, numbers(50, 70), 'the numbers acknowledged after the reconnection')
      const gap = await publish(exam, events(streamId, 80, 80))
      exam.expectCode(gap.outcome, 'INVALID_ARGUMENT', 'FAILED_PRECONDITION')
    },
  },
  {
    id: 'BES-04',
    sends: 'The four lifecycle events of a build around a tool stream, as Bazel sends them; all accepted.',
    needs,
    run: async (exam) => {
      const tool = toolStream(exam)
      const build = { buildId: tool.buildId, component: StreamIdBuildComponent.CONTROLLER }
      const invocation = { ...build, invocationId: tool.invocationId }
      const status = { result: BuildStatusResult.COMMAND_SUCCEEDED }
      exam.expectCode(await lifecycle(exam, build, 1, { buildEnqueued: {} }), 'OK')
      exam.expectCode(await lifecycle(exam, invocation, 1, { invocationAttemptStarted: { attemptNumber: 1 } }), 'OK')
      exam.expectCode((await publish(exam, [ordered(tool, 1, FINISHED)])).outcome, 'OK')
      const ended = { invocationAttemptFinished: { invocationStatus: status } }
      exam.expectCode(await lifecycle(exam, invocation, 2, ended), 'OK')
      exam.expectCode(await lifecycle(exam, build, 2, { buildFinished: { status } }), 'OK')
    },
  },
  {
    id: 'BES-05',
    sends: 'Events that hold an unknown type, and component_stream_finished; acknowledged.',
    needs,
    run: async (exam) => {
      const streamId = toolStream(exam)
      const odd = { bazelEvent: { typeUrl: 'type.example/no.such.Type', value: exam.random(40) } }
      const { outcome, acks } = await publish(exam, [ordered(streamId, 1, odd), ordered(streamId, 2, FINISHED)])
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(acks, [1, 2], 'the numbers acknowledged')
    },
  },
  {
    id: 'BES-06',
    sends: 'Events with notification_keywords and check_preceding_lifecycle_events_present; accepted.',
    needs,
    run: async (exam) => {
      const streamId = toolStream(exam)
      const build = { buildId: streamId.buildId, component: StreamIdBuildComponent.CONTROLLER }
      exam.expectCode(await lifecycle(exam, build, 1, { buildEnqueued: {} }), 'OK')
      const invocation = { ...build, invocationId: streamId.invocationId }
      exam.expectCode(await lifecycle(exam, invocation, 1, { invocationAttemptStarted: { attemptNumber: 1 } }), 'OK')
      const outcome = await exam.call(methods.publishBuildToolEventStream, {
        ...ordered(streamId, 1, FINISHED),
        notificationKeywords: ['user_keyword=conformance'],
        checkPrecedingLifecycleEventsPresent: true,
      })
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.sequenceNumber, 1, 'the number acknowledged')
    },
  },
]
