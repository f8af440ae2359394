import t from 'tap'
import { overDouble } from './over-double.js'

// Each wrapper over the contract double: in two forms that differ in all they can, and in one if it passes everything on.
// over-double.nightly.ts has the other forms. Each night wrappers also run over each other and over each real backend.

t.setTimeout(170_000)

overDouble(t, (form, { onlyPasses }) =>
  onlyPasses ? form === 'streams of unknown length' : form === 'open files' || form === 'zstd as it was sent',
)
