import { holds } from './rule.js'

const config = '.dependency-cruiser.cjs'
holds(
  'arrows between rooms point down',
  'node_modules/.bin/depcruise',
  '--config',
  config,
  'src',
  'conformance',
  'bench',
)
