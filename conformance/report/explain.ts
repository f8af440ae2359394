import { clientsOf } from '../requirements/profiles.js'
import type { Result } from '../run/runner.js'

/** All about one check: the requirement, what was sent and received, and how clients react. */
export const explanation = (result: Result): string => {
  const { requirement, verdict, reason, transcript, readings, observations, sends } = result
  const told = new Set(readings.map(({ client, fact }) => `${client}\0${fact}`))
  const unmeasured = clientsOf(requirement.id).filter(({ client, fact }) => !told.has(`${client}\0${fact}`))
  return [
    `${requirement.id} [${requirement.level}] ${requirement.section}, ${requirement.rpc}`,
    `requirement: ${requirement.requirement}`,
    `expected:    ${requirement.expected}`,
    `rests on:    ${requirement.source}`,
    `sent:        ${sends}`,
    `verdict:     ${verdict}${reason === '' ? '' : `: ${reason}`}`,
    '',
    transcript.length === 0 ? 'No calls were made.' : 'Calls, in the order they ended:',
    ...transcript.flatMap(({ method, messages, end }) => [
      `  ${method}`,
      ...messages.map((message) => `    ${message}`),
      `    = ${end}`,
    ]),
    '',
    ...Object.entries(observations).map(([fact, value]) => `measured: ${fact} = ${value}`),
    ...readings.map(({ client, fact, accepts, consequence }) =>
      accepts ? `${client}: accepts it (${fact})` : `${client}: ${consequence} (${fact})`,
    ),
    ...unmeasured.map(({ client, fact, otherwise }) =>
      otherwise === ''
        ? `${client}: accepts any value (${fact}; not measured in this run)`
        : `${client}: depends on "${fact}", not measured in this run; with a wrong value it ${otherwise}`,
    ),
    clientsOf(requirement.id).length === 0 ? 'No difference between clients is known here.' : '',
    '',
  ].join('\n')
}
