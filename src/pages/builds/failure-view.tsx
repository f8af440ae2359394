import { counted, countText } from '../../base/quantities.js'
import type { FailedCase } from '../../builds/detail/test-report.js'
import { STEPS } from '../../builds/own/facts.js'
import type { OwnExecution } from '../../builds/own/record.js'
import { Digest } from '../../reapi/digest.js'
import { addressOf } from '../actions/address.js'
import { actionCommand } from '../actions/reproduce.js'
import { shortAddress } from '../actions/short-address.js'
import type { Visit } from '../page.js'
import { Copyable } from '../parts/copyable.js'
import { Said } from '../parts/said.js'
import { Scrolled } from '../parts/scrolled.js'
import { durationText } from '../parts/small.js'
import type { ShownFailure } from './failures.js'
import { FileLink, FileText, linkOfFile } from './file-view.js'
import type { Exit } from './joined.js'

/** Further cases are counted. */
const MAX_CASES = 10
const MAX_TOOL_MESSAGE = 4000
const MAX_WORDS = 8000

interface FailureParts {
  readonly of: ShownFailure
  readonly visit: Visit
  /** The id of the build. */
  readonly invocation: string
}

/** One failure: what, how it ended, its failed cases, the end of its log, and how to run it again. */
export const FailureView = ({ of, visit, invocation }: FailureParts) => {
  const { label, mnemonic, attempt, exit, execution, log, logFile, message, words } = of
  const page = execution && pageOf(execution, visit)
  return (
    <article class="bad">
      <h3>
        <Said text={label} /> <span class="dim">{[mnemonic, attempt].filter(Boolean).join(', ')}</span>
      </h3>
      <p>
        <ExitWords of={exit} />
        <Where of={execution} />
      </p>
      <Cases of={of} />
      {log !== undefined && <FileText label={`What ${label} wrote`} of={log} whole={linkOfFile(logFile, visit)} />}
      {message !== undefined && (
        <details open={log === undefined || log.why !== undefined}>
          <summary>Message of the tool</summary>
          <Scrolled label="Message of the tool" text={message.slice(0, MAX_TOOL_MESSAGE)} />
        </details>
      )}
      <Reproduce of={of} again={execution && runAgain(execution, visit, invocation)} />
      <p class="small">
        {page !== undefined && (
          <>
            <a href={page}>The action</a>{' '}
          </>
        )}
        {of.files.map((file) => (
          <>
            <FileLink file={file} visit={visit} />{' '}
          </>
        ))}
      </p>
      {words.length > 0 && (
        <details>
          <summary>Command line</summary>
          <Scrolled label={`Command line of ${label}`} text={words.join('\n').slice(0, MAX_WORDS)} />
        </details>
      )}
    </article>
  )
}

/** The exit of a command. What only the client says is marked. */
export const ExitWords = ({ of: { code, by, reason } }: { readonly of: Exit }) => {
  const words = [...(code === undefined ? [] : [`exit code ${code}`]), ...(reason === undefined ? [] : [reason])]
  if (words.length === 0) return <>The exit code is not known. </>
  const text = words.join(': ')
  return (
    <>
      <b>
        <Said text={`${text[0]?.toUpperCase()}${text.slice(1)}`} max={1000} />
      </b>
      {by === 'client' && (
        <span class="dim" title="The action did not run here, so only the client knows">
          {' as the client says'}
        </span>
      )}
      .{' '}
    </>
  )
}

const STEP_WORDS: Readonly<Record<(typeof STEPS)[number], string>> = {
  queueMs: 'waited',
  fetchMs: 'got its inputs in',
  runMs: 'ran',
  uploadMs: 'uploaded in',
}

/** Where an execution ran and where its time went. */
const Where = ({ of }: { readonly of: OwnExecution | undefined }) => {
  if (of === undefined) return null
  const steps = STEPS.flatMap((step) => {
    const ms = of[step]
    return ms === undefined || (ms < 10 && step !== 'runMs') ? [] : [`${STEP_WORDS[step]} ${durationText(ms)}`]
  })
  const words = [...(of.worker === '' ? [] : [`worker ${of.worker}`]), ...steps]
  return words.length === 0 ? null : (
    <span class="dim">
      <Said text={words.join(', ')} />
    </span>
  )
}

const Cases = ({ of: { cases, report } }: { readonly of: ShownFailure }) => {
  if (report === undefined || cases.length === 0) return null
  const { caseCount, failedCount, stopped } = report
  const more = Math.max(0, failedCount - Math.min(cases.length, MAX_CASES))
  return (
    <>
      <ul class="cases">
        {cases.slice(0, MAX_CASES).map((one) => (
          <Case of={one} />
        ))}
      </ul>
      <p class="dim small">
        {`${countText(failedCount)} of ${counted(caseCount, 'case')} failed${more > 0 ? `; ${countText(more)} more are in test.xml` : ''}.`}
        {stopped !== undefined && <Said text={` The report was not read to its end: ${stopped}.`} />}
      </p>
    </>
  )
}

const MAX_MESSAGE = 1500

const Case = ({ of: { name, suite, tookMs, message, file, line } }: { readonly of: FailedCase }) => (
  <li>
    <b>
      <Said text={[suite, name].filter(Boolean).join('.')} />
    </b>
    <span class="dim">
      <Said
        text={[
          ...(file === undefined ? [] : [` ${file}${line === undefined ? '' : `:${line}`}`]),
          ...(tookMs === undefined ? [] : [` ${durationText(tookMs)}`]),
        ].join('')}
      />
    </span>
    {message !== '' && <Scrolled label={`Message of ${name}`} text={message.slice(0, MAX_MESSAGE)} />}
  </li>
)

const Reproduce = ({
  of: { command, label },
  again: remote,
}: {
  readonly of: ShownFailure
  readonly again: string | undefined
}) => {
  const lines = [
    ...(command === undefined ? [] : [{ name: 'run the test here', text: command }]),
    ...(remote === undefined ? [] : [{ name: 'run the same action again', text: remote }]),
  ]
  return (
    <>
      {lines.map(({ name, text }) => (
        <Copyable label={`${name}: ${label}`} text={text} />
      ))}
    </>
  )
}

/** The link to the page of what an execution came to, if that is kept, else of its action. */
export const pageOf = (
  { action, instance, response }: Pick<OwnExecution, 'action' | 'instance' | 'response'>,
  visit: Visit,
): string | undefined => {
  if (!visit.may('read_cas', instance)) return undefined
  const [digest, kept] = [Digest.ofKey(action), response === undefined ? undefined : Digest.ofKey(response)]
  if (kept !== undefined) return visit.to(addressOf(instance, 'historical_execute_response', kept))
  return digest && visit.to(addressOf(instance, 'action', digest))
}

/** What runs the action of an execution again; short, because the events of its build remember it. */
export const runAgain = (of: OwnExecution, visit: Visit, invocation: string): string | undefined => {
  const digest = visit.may('read_cas', of.instance) ? Digest.ofKey(of.action) : undefined
  if (digest === undefined) return undefined
  const short = shortAddress(digest, invocation) ?? addressOf(of.instance, 'action', digest)
  return actionCommand(`${visit.origin}${visit.to(short)}`)
}
