import { readFileSync, writeFileSync } from 'node:fs'
import json5 from 'json5'
import { notThere, requirements } from '../requirements/requirements.js'
import { oneLine, TargetError } from '../wire/target.js'
import type { Result } from './runner.js'
import { isInRange } from './versions.js'

/** The known divergences of one server: reason by requirement id. */
export type Expectations = ReadonlyMap<string, string>

/**
 * Reads a JSON5 list of `{ id, reason }`, of which entries with `versions` count only for servers of these. Throws a
 * TargetError for other entries and unknown ids, because a misread list would hide findings.
 */
export const readExpectations = (path: string, ids: readonly string[] = [], serverVersion = ''): Expectations => {
  const expectations = new Map<string, string>()
  for (const entry of listIn(path)) {
    const { id, reason, versions } =
      typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : {}
    if (typeof id !== 'string' || typeof reason !== 'string' || reason === '') {
      throw new TargetError(`${path}: expected { id, reason }, found ${oneLine(JSON.stringify(entry) ?? '')}`)
    }
    if (!requirements.has(id) && !ids.includes(id)) throw new TargetError(`${path}: ${id} ${notThere(id)}`)
    if (versions !== undefined && typeof versions !== 'string')
      throw new TargetError(`${path}: ${id}: expected versions to be a text such as ">=2.5 <2.6.1"`)
    if (versions !== undefined && !isInRange(serverVersion, versions)) continue
    if (expectations.has(id)) throw new TargetError(`${path}: ${id} is listed twice`)
    expectations.set(id, reason)
  }
  return expectations
}

const listIn = (path: string): unknown[] => {
  let content: unknown
  try {
    content = json5.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new TargetError(`${path}: ${oneLine(error instanceof Error ? error.message : String(error))}`)
  }
  if (!Array.isArray(content)) throw new TargetError(`${path}: expected a list of { id, reason }`)
  return content
}

/** The result with these known divergences applied. */
export const withExpectations = (result: Result, expectations: Expectations): Result => {
  const known = expectations.get(result.requirement.id)
  if (known === undefined) return result
  const { verdict, reason } = result
  if (verdict === 'fail' || verdict === 'warn' || verdict === 'crash')
    return { ...result, verdict: 'known', reason: `${known} (${reason})` }
  if (verdict === 'pass' || verdict === 'chosen') {
    return {
      ...result,
      verdict: 'surprise',
      reason: `the requirement now holds; remove it from the list; it was listed for: ${known}`,
    }
  }
  return result
}

/** Writes the divergences as a list to review. Known ones keep their reason. */
export const writeExpectations = (path: string, results: readonly Result[], known: Expectations): void => {
  const entries = results
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'warn' || verdict === 'crash' || verdict === 'known')
    .map(
      ({ requirement: { id }, reason }) => `  ${json5.stringify({ id, reason: known.get(id) ?? oneLine(reason) })},\n`,
    )
  try {
    writeFileSync(path, `[\n${entries.join('')}]\n`)
  } catch (error) {
    throw new TargetError(`--write-expectations ${oneLine(error instanceof Error ? error.message : String(error))}`)
  }
}
