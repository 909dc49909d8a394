/** The finding of a check. `warn` does not make the command fail. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly says: string;
  /** How to fix it; the last is a command, or ends in one. */
  readonly next: readonly string[];
}

export function ok(check: string, says: string): Finding {
  return { check, state: 'ok', says, next: [] };
}

export function warn(check: string, says: string, ...next: readonly string[]): Finding {
  return { check, state: 'warn', says, next };
}

export function fail(check: string, says: string, ...next: readonly string[]): Finding {
  return { check, state: 'fail', says, next };
}
