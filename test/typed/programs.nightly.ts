// For changes in: README.md, CONTRIBUTING.md, package.json, package-lock.json, scripts
import t from 'tap'
import { typeOnClones } from './clones.js'

t.setTimeout(1_150_000)

typeOnClones(['programs'])
