import { holds } from './rule.js'

holds('lint and format', 'node_modules/.bin/biome', 'check', '--diagnostic-level=warn', '--error-on-warnings', '.')
