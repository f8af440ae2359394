import { holds } from './rule.js'

holds('the types hold', 'node_modules/.bin/tsc', '--noEmit', '-p', '.')
