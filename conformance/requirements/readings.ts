/** How a text obliges a server, in the order of strength. */
export type Obligation = keyof typeof OBLIGATIONS

export const OBLIGATIONS = {
  must: 'says that servers MUST',
  will: 'says what the server will do or return',
  code: 'names the code for this very situation',
  means: 'says what the value means: another one says what is not so',
} as const

/**
 * How the text of each must that a judged server failed obliges it, read again in remote-apis becdd8f, googleapis 19e8384
 * and the documents of gRPC. `source` of the row names the place and what it says.
 */
export const readings: Readonly<Record<string, Obligation>> = {
  'ACG-05': 'must',
  'AST-02': 'will',
  'AST-07': 'means',
  'AST-14': 'will',
  'BSQ-01': 'means',
  'BSR-03': 'means',
  'BSR-04': 'will',
  'BSR-05': 'will',
  'BSR-06': 'means',
  'BSR-07': 'will',
  'BSR-11': 'must',
  'BSR-17': 'means',
  'BSW-07': 'will',
  'BSW-08': 'will',
  'BSW-09': 'will',
  'BSW-10': 'will',
  'BSW-11': 'will',
  'BSW-13': 'will',
  'BSW-17': 'means',
  'BUB-01': 'means',
  'BUB-02': 'code',
  'BUB-03': 'code',
  'BUB-10': 'code',
  'CAP-10': 'means',
  'CMD-08': 'will',
  'CMD-14': 'means',
  'CMD-20': 'will',
  'CMD-21': 'will',
  'CMD-27': 'means',
  'CMP-02': 'must',
  'CMP-03': 'will',
  'CMP-05': 'will',
  'CMP-12': 'must',
  'CMP-13': 'will',
  'CMP-21': 'must',
  'DIG-02': 'must',
  'DIG-12': 'must',
  'EXE-04': 'means',
  'EXE-12': 'code',
  'EXE-26': 'code',
  'EXE-41': 'means',
  'GEN-10': 'will',
  'OUT-08': 'means',
  'OUT-10': 'will',
  'SPL-06': 'code',
  'TRE-03': 'will',
  'TRE-05': 'will',
  'TRE-06': 'means',
  'WAI-01': 'will',
}

/** What older reports call a failing must and is none any more, with the reason. */
export const NO_MUSTS: Readonly<Record<string, string>> = {
  'BRB-01': 'the method is not implemented, and no text says that every server has it: a warning',
  'BSW-02': "what follows the size is the implementation's own, so that another server may not know it: a should",
  'BSW-06': 'no text forbids a server to know names without a uuid too: a choice',
}
