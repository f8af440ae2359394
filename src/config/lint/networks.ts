import { checkNetwork } from '../value/network.js'
import type { LintContext } from './context.js'

/** Reports what is no address or network in `allow_addresses` of the options at a path. */
export const lintNetworks = (
  { findings }: Pick<LintContext, 'findings'>,
  path: readonly (string | number)[],
  networks: readonly string[],
): void => {
  for (const [index, text] of networks.entries()) {
    try {
      checkNetwork(text)
    } catch {
      findings.error([...path, 'allow_addresses', index], `${JSON.stringify(text)} is no address or network`, {
        found: JSON.stringify(text),
        expected: 'a form like 10.1.2.3, 10.0.0.0/8 or fd00::/8',
      })
    }
  }
}
