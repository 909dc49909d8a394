import { PORTAL_TOKEN_BYTES, portalToken, portalTokenHash } from '../../domain/access/portal-tokens.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import type { Person } from '../commands/person.ts';

const SESSION_MS = 8 * 3_600_000;
/** The oldest ends when there are more. */
const SESSIONS_MAX = 100;

export interface OperatorSession {
  readonly token: string;
  readonly person: Person;
  /** Of the system's clock, milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The sessions of operators. They are in memory: a restart of the process ends them, as it ends its token. */
export class OperatorSessions {
  /** By the hash of their tokens: how long a look takes says nothing of a token. */
  readonly #sessions = new Map<string, OperatorSession>();
  readonly #clock: Pick<Clock, 'wall' | 'system'>;
  readonly #random: Random;

  constructor({
    clock,
    random,
  }: { readonly clock: Pick<Clock, 'wall' | 'system'>; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  open(person: Person): OperatorSession {
    const token = portalToken(this.#random.bytes(PORTAL_TOKEN_BYTES));
    const session = { token, person, expiresAt: this.#now() + SESSION_MS };
    this.#sessions.set(keyOf(token), session);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= SESSIONS_MAX) break;
      this.#sessions.delete(oldest);
    }
    return session;
  }

  /** Returns a session that lasts. */
  find(token: string | undefined): OperatorSession | undefined {
    const found = this.#sessions.get(keyOf(token ?? ''));
    return found && found.expiresAt > this.#now() ? found : undefined;
  }

  end({ token }: OperatorSession): void {
    this.#sessions.delete(keyOf(token));
  }

  #now(): number {
    return this.#clock.system(this.#clock.wall());
  }
}

function keyOf(token: string): string {
  return Buffer.from(portalTokenHash(token) ?? []).toString('base64');
}
