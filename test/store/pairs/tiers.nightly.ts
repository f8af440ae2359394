import { pairsUnder } from '../pairs.js'

pairsUnder('tiers')
