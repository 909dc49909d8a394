import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { type AnswerToStore, StoreConflict } from '../../change.ts';
import { CLAIM_MS, type Claim } from '../../store.ts';

/** Expired responses deleted with each new one, so that the table does not grow beyond the valid ones. */
const EXPIRED_PER_ANSWER = 10;
/** For a stored response that waits for no directory change. */
export const NO_OUTBOX_ROW = 0;

interface Held {
  readonly token: string;
  readonly until: number;
}

/**
 * Responses kept for a repeated Idempotency-Key, and the claims of running requests. Claims are in memory: no other
 * process writes to the file.
 */
export class AnswerWrites {
  readonly #held = new Map<string, Held>();
  /** Changes of the claims by the running transaction, made when it is committed; null ends one. */
  readonly #changes = new Map<string, Held | null>();
  readonly #find;
  readonly #store;
  readonly #expire;

  constructor(db: Database) {
    this.#find = db.prepare(
      `SELECT 'stored' AS kind, request_hash AS requestHash, status, sealed, outbox_id AS outboxId FROM answer
       WHERE scope = ? AND expires_at > ?`,
    );
    this.#store = db.prepare('INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?)');
    this.#expire = db.prepare(
      `DELETE FROM answer WHERE scope IN (SELECT scope FROM answer WHERE expires_at <= ? ORDER BY expires_at
       LIMIT ?)`,
    );
  }

  claim(scope: string, now: number): Claim {
    const stored = this.#find.get(scope, now) as Claim | undefined;
    if (stored) return stored;
    const held = this.#heldBy(scope);
    if (held && held.until > now) return { kind: 'running' };
    const token = randomUUID();
    this.#changes.set(scope, { token, until: now + CLAIM_MS });
    return { kind: 'claimed', token };
  }

  release(scope: string, token: string): void {
    if (this.#heldBy(scope)?.token === token) this.#changes.set(scope, null);
  }

  keep(answer: AnswerToStore, at: number): void {
    this.store(answer, NO_OUTBOX_ROW, at);
  }

  /** `outboxId`: the change that it reports, so that a repeated request can wait for it as well. */
  store(answer: AnswerToStore, outboxId: number, now: number): void {
    const { scope, token, requestHash, status, sealed, expiresAt } = answer;
    if (this.#heldBy(scope)?.token !== token)
      throw new StoreConflict('the claim of this Idempotency-Key has ended');
    this.#changes.set(scope, null);
    this.#expire.run(Math.floor(now), EXPIRED_PER_ANSWER);
    this.#store.run(scope, requestHash, status, sealed, outboxId, Math.floor(expiresAt));
  }

  committed(): void {
    for (const [scope, held] of this.#changes) {
      if (held) this.#held.set(scope, held);
      else this.#held.delete(scope);
    }
    this.#changes.clear();
  }

  rolledBack(): void {
    this.#changes.clear();
  }

  #heldBy(scope: string): Held | null | undefined {
    return this.#changes.has(scope) ? this.#changes.get(scope) : this.#held.get(scope);
  }
}
