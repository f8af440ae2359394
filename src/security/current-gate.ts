import type { Caller, Gate, PageRequest, RequestCheck, Visitor } from '../rpc/gate.js'

/** A gate that another one can replace while calls are served. Calls that were admitted keep their permissions. */
export class CurrentGate implements Gate {
  #gate: Gate

  constructor(gate: Gate) {
    this.#gate = gate
  }

  set current(gate: Gate) {
    this.#gate = gate
  }

  admit(path: string, caller: Caller): Visitor | Promise<Visitor> {
    return this.#gate.admit(path, caller)
  }

  admitCaller(caller: Caller, request: PageRequest): Visitor | Promise<Visitor> {
    return this.#gate.admitCaller(caller, request)
  }

  admitOperator(caller: Caller, request: PageRequest, check?: RequestCheck): Promise<Visitor> {
    return this.#gate.admitOperator(caller, request, check)
  }
}
