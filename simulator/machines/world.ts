import { MACHINES, START } from '../../services/domain/catalog/machines.ts';

/** The fields of an event that affect the state. */
export interface Move {
  readonly type: string;
  readonly subType: string;
  /** data.status, if the step sets it: the state where the subType is only `statusUpdate`, the reason of a hold. */
  readonly status?: string | undefined;
  /** Distinguishes two processes of one type: two transactions of one scenario, for example. */
  readonly process: string;
}

/** A step that the platform would not allow. */
export interface Illegal {
  readonly from: string;
  readonly to: string;
  readonly legal: readonly string[];
  readonly reason: string;
}

interface Process {
  readonly type: string;
  state: string;
  /** Why it is on hold. A hold can be imposed from outside, before the event that reports it. */
  hold: 'ON_HOLD_KYC' | 'ON_HOLD_PROCESS' | null;
}

const TERMS_MISSING = 'MISSING_TERMS_AND_CONDITIONS_SIGNED';
/** The process name of things that an entity has only one of: its KYC, its status. */
export const ENTITY = 'entity';
const TRANSACTIONS = ['fiatToCrypto', 'cryptoToFiat'];
const HOLD_WHILE_BARRED = 'ON_HOLD with data.status: ON_HOLD_PROCESS';
/**
 * The states that are possible while the entity is blocked or suspended: it has no on-ramps, off-ramps or updates
 * (docs/specification.md, "Event types"). The platform can still hold, refuse, refund and close.
 */
const LEGAL_WHILE_BARRED: Readonly<Record<string, readonly string[]>> = {
  fiatToCrypto: ['ON_HOLD', 'FAILED', 'REFUNDED'],
  cryptoToFiat: ['ON_HOLD', 'FAILED', 'REFUNDED'],
  KYC: ['SOFT_KYC_FAILED', 'HARD_KYC_FAILED', 'SUSPENDED'],
  KYB: ['REJECTED'],
  serviceBankAccount: ['FAILED_CREATION', 'DISABLED'],
  linkedBankAccountProfile: ['FAILED_CREATION', 'DISABLED'],
  linkBankAccount: ['FAILED', 'DISABLED'],
};

/**
 * The states of one entity and of all its processes. Across processes: while the entity is BLOCKED or SUSPENDED its
 * transactions can only be held (ON_HOLD_PROCESS), fail or be refunded, and nothing of it is updated; FULL_USER (of a
 * corporate: ACTIVE) clears KYC holds; UNBLOCKED clears the others.
 */
export class World {
  readonly #processes = new Map<string, Process>();
  readonly #barredBy = new Set<'BLOCKED' | 'SUSPENDED'>();

  /** Sets the state of a process before the first step: a scenario may begin in the middle of a life cycle. */
  place(type: string, process: string, state: string): void {
    this.#processOf(type, process).state = state;
    if (state === 'SUSPENDED' || state === 'BLOCKED') this.#barredBy.add(state);
  }

  /** Returns why the move is not possible now; undefined when it is. */
  refusal(move: Move): Illegal | undefined {
    const table = MACHINES[move.type];
    if (!table) return undefined;
    const process = this.#processOf(move.type, move.process);
    const to = stateAfter(move);
    const allowed = table[process.state] ?? [];
    const where = { from: process.state, to };
    if (!allowed.includes(to)) {
      const reason = `${move.type} cannot go from ${process.state} to ${to}`;
      return { ...where, legal: this.#withoutBarred(move.type, allowed), reason };
    }
    if (to === TERMS_MISSING && this.#processOf('KYC', ENTITY).state !== 'FULL_USER') {
      const legal = allowed.filter((state) => state !== TERMS_MISSING);
      return { ...where, legal, reason: `${TERMS_MISSING} comes after KYC/FULL_USER` };
    }
    const legal = this.#withoutBarred(move.type, allowed);
    if (!legal.includes(to)) {
      const what = TRANSACTIONS.includes(move.type)
        ? 'its transactions cannot continue'
        : 'it has no updates';
      const reason = `the entity is ${[...this.#barredBy].join(' and ')}: ${what}`;
      return { ...where, legal, reason };
    }
    if (this.#barredBy.size > 0 && to === 'ON_HOLD' && holdAfter(move) !== 'ON_HOLD_PROCESS') {
      const reason = `the entity is ${[...this.#barredBy].join(' and ')}: its transactions are held as ON_HOLD_PROCESS`;
      return {
        ...where,
        legal: legal.map((state) => (state === 'ON_HOLD' ? HOLD_WHILE_BARRED : state)),
        reason,
      };
    }
    if (process.hold === 'ON_HOLD_KYC' && to === 'IN_PROGRESS' && !this.#isVerified()) {
      const verified = this.#processes.has(`KYB/${ENTITY}`) ? 'KYB/ACTIVE' : 'KYC/FULL_USER';
      const reason = `the transaction is held for KYC: ${verified} has to come first`;
      return { ...where, legal: legal.filter((state) => state !== 'IN_PROGRESS'), reason };
    }
    return undefined;
  }

  /** Makes the move, whether or not it is legal (--force), with its effects on other processes. */
  apply(move: Move): void {
    const process = this.#processOf(move.type, move.process);
    process.state = stateAfter(move);
    if (TRANSACTIONS.includes(move.type)) process.hold = holdAfter(move);
    if (move.type === 'KYC') {
      if (move.subType === 'SUSPENDED') this.#barredBy.add('SUSPENDED');
    }
    if (['KYC', 'KYB'].includes(move.type) && this.#isVerified()) this.#clear('ON_HOLD_KYC');
    if (move.type === 'entityStatusUpdate') {
      if (move.subType === 'BLOCKED') this.#barredBy.add('BLOCKED');
      if (move.subType === 'UNBLOCKED') {
        this.#barredBy.delete('BLOCKED');
        this.#clear('ON_HOLD_PROCESS');
      }
    }
  }

  /** Returns the reason of a hold that is set now. A verified or barred entity has no KYC to wait for. */
  holdNow(): 'ON_HOLD_KYC' | 'ON_HOLD_PROCESS' {
    return this.#isVerified() || this.#barredBy.size > 0 ? 'ON_HOLD_PROCESS' : 'ON_HOLD_KYC';
  }

  #isVerified(): boolean {
    const stateOf = (type: string) => this.#processes.get(`${type}/${ENTITY}`)?.state;
    return stateOf('KYC') === 'FULL_USER' || stateOf('KYB') === 'ACTIVE';
  }

  #withoutBarred(type: string, states: readonly string[]): readonly string[] {
    const possible = LEGAL_WHILE_BARRED[type];
    if (this.#barredBy.size === 0 || possible === undefined) return states;
    return states.filter((state) => possible.includes(state));
  }

  #clear(hold: 'ON_HOLD_KYC' | 'ON_HOLD_PROCESS'): void {
    for (const process of this.#processes.values()) if (process.hold === hold) process.hold = null;
  }

  #processOf(type: string, name: string): Process {
    const key = `${type}/${name}`;
    let process = this.#processes.get(key);
    if (!process) {
      process = { type, state: START, hold: null };
      this.#processes.set(key, process);
    }
    return process;
  }
}

/** Returns the new state. Where the subType is only `statusUpdate`, the status in the data is the state. */
export function stateAfter(move: Move): string {
  return move.subType === 'statusUpdate' ? (move.status ?? 'ACTIVE') : move.subType;
}

function holdAfter(move: Move): Process['hold'] {
  if (move.subType !== 'ON_HOLD') return null;
  // Without a status of its own, the event has the first of its type.
  return move.status === 'ON_HOLD_PROCESS' ? 'ON_HOLD_PROCESS' : 'ON_HOLD_KYC';
}
