/** Rows that no client can observe, and why. Together with the checks they cover the table exactly. */
export const unobservable: ReadonlyMap<string, string> = new Map([
  ['DIG-14', 'the published SHA256TREE vectors are not available, and no known server announces the function'],
  ['FMB-12', 'needs access to the files of the store'],
  ['BUB-13', 'needs a full store; filling one is unbounded load'],
  ['BRB-11', 'eviction depends on the size of the store and the load of all clients'],
  ['BSW-22', 'needs a full store; filling one is unbounded load'],
  ['BSR-08', 'needs the store to fail during a download'],
  ['BSR-14', 'needs access to the files of the store'],
  ['BSR-15', 'eviction depends on the size of the store and the load of all clients'],
  ['SPL-11', 'eviction depends on the size of the store and the load of all clients'],
  ['ACG-11', 'needs the store to fail'],
  ['ACU-08', 'needs a full store; filling one is unbounded load'],
  ['EXE-29', "the server's own maximum is not announced, and may be hours"],
  ['EXE-34', 'needs to end a worker'],
  ['WAI-05', 'needs to restart the server'],
])
