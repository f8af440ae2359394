import { pairsUnder } from '../pairs.js'

pairsUnder('chunks')
