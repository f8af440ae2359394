/** Rows of the table that no client can observe, and why: with the checks they cover the table exactly. */
export const unobservable: ReadonlyMap<string, string> = new Map([
  ['DIG-14', 'the published vectors of SHA256TREE are not at hand, and no server that announces it is known'],
  ['FMB-08', 'what is evicted next depends on the size of the store and on the load of all clients'],
  ['FMB-12', 'needs access to the files of the store'],
  ['BUB-13', 'needs a store without room; filling one is no bounded load'],
  ['BRB-11', 'what is evicted next depends on the size of the store and on the load of all clients'],
  ['BSW-22', 'needs a store without room; filling one is no bounded load'],
  ['BSR-08', 'needs the store to fail in the middle of a download'],
  ['BSR-14', 'needs access to the files of the store'],
  ['BSR-15', 'what is evicted next depends on the size of the store and on the load of all clients'],
  ['SPL-11', 'what is evicted next depends on the size of the store and on the load of all clients'],
  ['ACG-04', 'what is evicted next depends on the size of the store and on the load of all clients'],
  ['ACG-11', 'needs the store to fail'],
  ['ACU-08', 'needs a store without room; filling one is no bounded load'],
  ['EXE-29', 'the maximum that a server applies by itself is not announced, and may be hours'],
  ['EXE-34', 'needs to end a worker'],
  ['WAI-05', 'needs to restart the server'],
])
