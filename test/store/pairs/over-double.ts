import type { Test } from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { Resources } from '../../../src/work/resources.js'
import { call } from '../blobs.js'
import { ContractDouble, type DoubleOptions } from '../double.js'
import { storeSuite } from '../suite.js'
import { wrappers } from '../wrappers.js'

interface Variant extends DoubleOptions {
  /** Only wrappers that read or change blobs can tell it from the others. */
  readonly isForm?: boolean
}

/** The forms that a backend may have. */
const VARIANTS = {
  'small bytes in memory': { serves: 'bytes', takes: 'whole', isForm: true },
  'streams of unknown length': { serves: 'streams', takes: 'poured', knowsSizes: false },
  'open files': { serves: 'file', takes: 'streams', isForm: true },
  'zstd as it was sent': { serves: 'streams', takes: 'poured', properties: { encodings: ['ZSTD'] }, isForm: true },
  'another server, which checks': { serves: 'streams', takes: 'poured', checksUploads: true, hasKeys: false },
} satisfies Readonly<Record<string, Variant>>

/** Each wrapper over the contract double in the forms that are `chosen` for it. */
export const overDouble = (
  t: Test,
  chosen: (form: keyof typeof VARIANTS, wrapper: { readonly onlyPasses: boolean }) => boolean,
): void => {
  for (const [outer, wrapper] of Object.entries(wrappers)) {
    const { wrap, checksUploads = false, isBeside = false, onlyPasses = false, changes } = wrapper
    for (const [inner, variant] of Object.entries<Variant>(VARIANTS)) {
      if (!chosen(inner as keyof typeof VARIANTS, { onlyPasses })) continue
      // Such a configuration is refused: what it would store there is no blob of its digest.
      if (variant.hasKeys === false && (changes !== undefined || isBeside)) continue
      if (variant.isForm === true && onlyPasses) continue
      storeSuite(t, {
        name: `${outer} ${inner}`,
        isPersistent: false,
        isBrief: true,
        checksUploads: checksUploads || variant.checksUploads === true,
        removes: variant.hasKeys !== false,
        runs: 3,
        open: async () => {
          const resources = new Resources(silentLog)
          const double = new ContractDouble({ ...variant, caller: call, background: ['remove'] })
          const close = async (): Promise<void> => {
            await resources.close()
            const faults = await double.end()
            if (faults.length > 0) throw new Error(faults.join('; '))
          }
          return { store: await wrap(double, { resources }), close }
        },
      })
    }
  }
}
