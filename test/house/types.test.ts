import { holds } from './rule.js'

// tap and the generators use the library of version 5; version 7 checks in a third of the time.
holds('the types hold', process.execPath, 'node_modules/typescript-native/bin/tsc', '--noEmit', '-p', '.')
