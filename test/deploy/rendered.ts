/** The manifests that helm makes of deploy/chart, and what is in them. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { cleanEnv, type Outcome, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'

export const helm = process.env['REMEXEC_TEST_HELM']
export const VERSION = '1.35.0'
export const CHART = join(root, 'deploy/chart')

export const render = async (
  t: Test,
  values: readonly string[],
  chart = CHART,
  ...options: readonly string[]
): Promise<Outcome> => {
  const folder = await scratchFolder(t)
  const set = values.flatMap((value) => ['--set', value])
  const args = ['template', 'team', chart, '--kube-version', VERSION, '--namespace', 'builds', ...options, ...set]
  return run(helm ?? '', args, folder, cleanEnv(folder))
}

/** The manifests; throws if helm refuses the values. */
export const rendered = async (t: Test, values: readonly string[]): Promise<string> => {
  const { code, output } = await render(t, values)
  if (code !== 0) throw new Error(output)
  return output
}

/** The documents of a kind, by name. */
export const documentsOf = (manifests: string, kind: string): ReadonlyMap<string, string> =>
  new Map(
    manifests
      .split(/^---$/m)
      .filter((text) => new RegExp(`^kind: ${kind}$`, 'm').test(text))
      .map((text) => [/^ {2}name: (\S+)$/m.exec(text)?.[1] ?? '', text]),
  )

/** The text of a configuration in its ConfigMap. */
export const configOf = (manifests: string, part: string): string => {
  const [, text = ''] = documentsOf(manifests, 'ConfigMap').get(`team-${part}`)?.split(`${part}.json5: |\n`) ?? []
  return text.replace(/^ {4}/gm, '')
}

/** A key of the Secret with the tokens. */
export const tokenOf = (manifests: string, key: string): string => {
  const secret = documentsOf(manifests, 'Secret').get('team-tokens') ?? ''
  const [, text = ''] = new RegExp(`^ {2}${key}: (\\S+)$`, 'm').exec(secret) ?? []
  return Buffer.from(text, 'base64').toString()
}
