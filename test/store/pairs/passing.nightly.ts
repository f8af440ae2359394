import { pairsUnder } from '../pairs.js'

pairsUnder('passing')
