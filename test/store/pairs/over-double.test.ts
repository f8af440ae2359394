import t from 'tap'
import { overDouble } from './over-double.js'

// Each wrapper over the contract double in one form: open files, or streams of unknown length where a wrapper passes everything on.
// over-double.nightly.ts has the other forms, and runs for changes of stores and streams. Each night wrappers also run over each other
// and over each real backend.

t.setTimeout(600_000)

overDouble(t, (form, { onlyPasses }) => form === (onlyPasses ? 'streams of unknown length' : 'open files'))
