import { pairsUnder } from '../pairs.js'

pairsUnder('checking')
