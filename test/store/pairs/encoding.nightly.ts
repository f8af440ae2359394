import { pairsUnder } from '../pairs.js'

pairsUnder('encoding')
