import { holds } from './rule.js'

holds('generated files are what their sources say', process.execPath, 'scripts/generate.mjs', '--check')
