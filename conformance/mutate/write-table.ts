import { writeFileSync } from 'node:fs'
import { mutationTable } from './table.js'

writeFileSync(new URL('../mutations.md', import.meta.url), mutationTable())
