import type { Environment } from '../../api/auth.ts';
import type { RequeueOptions } from '../../broker/broker.ts';
import { textFaultsIn } from '../../domain/text/text-fault.ts';
import type { KeyRing } from '../../keys/keyring.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import type { Actor } from '../../store/change.ts';
import type { Store } from '../../store/store.ts';
import type { RecordStores } from './erase-entity.ts';

/** An operator's command cannot be carried out; the message gives the reason and the remedy. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** Lines that help, each with a command. */
  readonly next: readonly string[];

  constructor(message: string, ...next: readonly string[]) {
    super(message);
    this.next = next;
  }
}

export interface OperatorDeps {
  readonly store: Pick<
    Store,
    | 'merchants'
    | 'keys'
    | 'endpoints'
    | 'outbox'
    | 'log'
    | 'replays'
    | 'audit'
    | 'sealings'
    | 'erasures'
    | 'leases'
    | 'backup'
  >;
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Environment;
  /** The operator who gives the command. */
  readonly actor: Actor;
  /** Throws KeyRingError when there is none. */
  readonly keyRing: () => KeyRing;
  /** Lends the broker's record stores; where no service runs they are opened for the call. */
  readonly withRecordStores: <T>(use: (recordStores: RecordStores) => Promise<T>) => Promise<T>;
}

/**
 * Adds an entry to the audit: of what the store does not record by itself. Resolves when it is durable; await it before
 * the change, or before what was read is shown.
 */
export type AddToAudit = (
  action: string,
  details: Readonly<Record<string, unknown>>,
  merchantId?: string | null,
) => Promise<void>;

export function auditOf({
  store,
  clock,
  actor,
}: Pick<OperatorDeps, 'store' | 'clock' | 'actor'>): AddToAudit {
  return (action, details, merchantId = null) =>
    store.audit.add({ at: clock.wall(), actor, merchantId, action, details });
}

/** Arguments come over HTTP or from a command line, unchecked. */
export type Arguments = Readonly<Record<string, unknown>>;
export type Command = (deps: OperatorDeps, given: Arguments) => Promise<unknown>;

/** Refuses texts that could not be kept unchanged, or not in every store. */
export function refuseTexts(given: Arguments): void {
  const [fault] = textFaultsIn(given);
  if (fault) throw new OperatorError(`${fault.pointer.slice(1)}: ${fault.detail}`);
}

const TEXT_CHARACTERS_MAX = 255;

export function text(given: Arguments, name: string, most = TEXT_CHARACTERS_MAX): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '' && value.length <= most) return value;
  throw new OperatorError(`${name}: must be a text of 1 to ${most} characters`);
}

export function flag(given: Arguments, name: string): boolean | undefined {
  const value = given[name];
  if (value === undefined || typeof value === 'boolean') return value;
  throw new OperatorError(`${name}: must be true or false`);
}

/** Returns a whole number from 1 to `max`. */
export function limitOf(given: Arguments, fallback: number, max: number): number {
  const { limit = fallback } = given;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new OperatorError(`limit: must be a whole number from 1 to ${max}`);
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns a point in time (RFC 3339), or an age (30m, 2h, 7d), as milliseconds since the epoch. */
export function timeOf(given: Arguments, name: string, now: number): number | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  const ago = typeof value === 'string' ? /^(\d{1,6})([mhd])$/.exec(value) : null;
  if (ago) return now - Number(ago[1]) * (UNITS_MS[ago[2] ?? ''] ?? 0);
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new OperatorError(
    `${name}: must be a time such as 2030-01-31T08:00:00Z, or how long ago, such as 30m, 2h or 7d`,
  );
}

/** The context of a command on the broker's records. */
export interface BrokerContext {
  readonly now: number;
  readonly audit: AddToAudit;
  /** Returns why the router would refuse an event, or null. Absent where no service runs that knows the merchants. */
  readonly stillRefused?: RequeueOptions['stillRefused'];
}
