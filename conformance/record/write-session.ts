import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import JSON5 from 'json5'
import type { Session } from '../session/session.js'
import type { Transcript } from './transcribe.js'

/** Writes a temporary folder and renames it, so that the session is either complete or absent. */
export const writeSession = (out: string, { session, files }: Transcript): void => {
  const partial = `${out.replace(/\/+$/, '')}.partial-${process.pid}`
  try {
    mkdirSync(dirname(partial), { recursive: true })
    mkdirSync(partial)
    writeFileSync(join(partial, 'session.json5'), sessionText(session))
    if (files.size > 0) mkdirSync(join(partial, 'blobs'))
    for (const [name, bytes] of files) writeFileSync(join(partial, 'blobs', name), bytes)
    renameSync(partial, out)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

/** One line for each message and blob, so that recordings can be compared by diff. */
export const sessionText = (session: Transcript['session']): string => {
  const { calls, blobs, expected, ...head } = session
  const lines = [
    '{',
    '  format: 1,',
    ...Object.entries(head).map(([name, value]) => `  ${name}: ${JSON5.stringify(value)},`),
    '  calls: [',
    ...calls.flatMap(callLines),
    '  ],',
    '  blobs: {',
    ...blobLines(blobs),
    '  },',
    '  expected: {',
    ...blobLines(expected),
    '  },',
    '}',
  ]
  return `${lines.join('\n')}\n`
}

const callLines = ({ messages, ...head }: Session['calls'][number]): string[] => {
  const { end, ...before } = head
  return [
    '    {',
    `      ${fields(before)},`,
    '      messages: [',
    ...messages.map((message) => `        ${JSON5.stringify(message)},`),
    '      ],',
    `      end: ${JSON5.stringify(end)},`,
    '    },',
  ]
}

const blobLines = (blobs: Session['blobs']): string[] =>
  Object.entries(blobs).map(([digest, source]) => `    '${digest}': ${JSON5.stringify(source)},`)

const fields = (value: object): string =>
  Object.entries(value)
    .map(([name, field]) => `${name}: ${JSON5.stringify(field)}`)
    .join(', ')
