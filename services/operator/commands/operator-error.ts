import type { Refused, RefusedCode } from '../../management/refused.ts';

/** An operator's command cannot be carried out; the message gives the reason and the remedy. */
export class OperatorError extends Error {
  /** Lines that help, each with a command. */
  readonly next: readonly string[];

  constructor(message: string, ...next: readonly string[]) {
    super(message);
    this.name = new.target.name;
    this.next = next;
  }
}

/** The command line, or the arguments of a request, cannot mean anything: nothing was tried. */
export class UsageError extends OperatorError {}

const WORDS: Readonly<Record<RefusedCode, (about: string) => string>> = {
  merchant_not_found: (id) => `there is no merchant ${id}: see merchants list`,
  merchant_exists: (id) => `merchant ${id} exists already`,
  merchant_closed: (id) => `merchant ${id} is closed, for good: see merchants get`,
  platform_merchant_stays: (id) =>
    `merchant ${id} is the platform itself, which gets the notices of all merchants, and stays: delete its endpoints or revoke its keys`,
  incident_replay_not_found: (id) => `there is no replay ${id}: see replay list`,
  replay_ended: (id) => `replay ${id} has ended already: see replay get`,
  incident_replay_running: (id) => `replay ${id} is running: wait for it to end, or use replay cancel`,
  quarantined_not_found: (position) => `there is no record at ${position} in quarantine: see quarantine list`,
  empty_period: () => 'since: must be before until, and in the past',
};

/** Returns a refusal as operators are told it. */
export function wordedRefusal({ code, about }: Refused): OperatorError {
  const words = WORDS[code](about);
  return code === 'empty_period' ? new UsageError(words) : new OperatorError(words);
}
