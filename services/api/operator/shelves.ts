import type { Broker } from '../../broker/broker.ts';
import type { DeadLetter } from '../../domain/journal.ts';
import { QUARANTINE_REASONS, type Quarantined, type QuarantineReason } from '../../domain/quarantine.ts';
import { timestamp } from '../endpoint-json.ts';
import { type Arguments, limitOf, OperatorError } from './arguments.ts';

/** What an operator does with the broker's shelves: the same through a running service and without one. */

type Shelves = Pick<Broker, 'quarantine' | 'deadLetters'>;
type Command = (shelves: Shelves, given: Arguments) => Promise<unknown>;

const LIST_DEFAULT = 100;
const LIST_MAX = 1000;
/** Put back at a time: each is written and taken off before the next are. */
const REPLAY_AT_ONCE = 500;

const COMMANDS = {
  'quarantine-list': async ({ quarantine }, given) => {
    const records = await quarantine.list(pageOf(given)).catch(refuseRange);
    return records.map(({ position, record }) => quarantinedJson(position, record));
  },
  'quarantine-replay': replay,
  'dead-letters-list': async ({ deadLetters }, given) => {
    const records = await deadLetters.list(pageOf(given)).catch(refuseRange);
    return records.map(({ position, record }) => deadLetterJson(position, record));
  },
} as const satisfies Record<string, Command>;

export type ShelfCommand = keyof typeof COMMANDS;

export function isShelfCommand(name: string): name is ShelfCommand {
  return Object.hasOwn(COMMANDS, name);
}

/** Runs one command. Throws OperatorError for what cannot be done. */
export function runShelfCommand(shelves: Shelves, name: ShelfCommand, given: Arguments): Promise<unknown> {
  return COMMANDS[name](shelves, given);
}

/**
 * Puts records back on EVENTS: those at `positions`, or all of a `reason` or a `merchant`, or simply `all`. What lies there
 * when it begins is found first, so that a record that comes straight back is not put back again and again.
 */
async function replay({ quarantine }: Shelves, given: Arguments): Promise<{ replayed: number }> {
  const { positions = [], all = false } = given;
  if (!Array.isArray(positions) || !positions.every((position) => typeof position === 'string')) {
    throw new OperatorError('positions: a list of texts is needed');
  }
  const filter = filterOf(given);
  const chooses = all === true || filter.reason !== undefined || filter.merchant !== undefined;
  if (chooses === positions.length > 0) {
    throw new OperatorError('name positions (see quarantine list), or --all, --reason or --merchant instead');
  }
  const wanted = chooses ? await found(quarantine, filter) : positions;
  let replayed = 0;
  for (let i = 0; i < wanted.length; i += REPLAY_AT_ONCE) {
    replayed += await quarantine.requeue(wanted.slice(i, i + REPLAY_AT_ONCE));
  }
  return { replayed };
}

interface Filter {
  readonly reason: QuarantineReason | undefined;
  readonly merchant: string | undefined;
}

function filterOf(given: Arguments): Filter {
  const { reason, merchant } = given;
  if (merchant !== undefined && typeof merchant !== 'string')
    throw new OperatorError('merchant: must be a text');
  const known = QUARANTINE_REASONS.find((candidate) => candidate === reason);
  if (reason !== undefined && known === undefined) {
    throw new OperatorError(`reason: must be one of ${QUARANTINE_REASONS.join(', ')}`);
  }
  return { reason: known, merchant };
}

async function found(quarantine: Shelves['quarantine'], { reason, merchant }: Filter): Promise<string[]> {
  const positions: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await quarantine.list({ ...(after === undefined ? {} : { after }), limit: LIST_MAX });
    for (const { position, record } of page) {
      if (reason !== undefined && record.reason !== reason) continue;
      if (merchant !== undefined && record.merchantId !== merchant) continue;
      positions.push(position);
    }
    after = page.at(-1)?.position;
    if (page.length < LIST_MAX) return positions;
  }
}

function pageOf(given: Arguments): { limit: number; after?: string } {
  const { after } = given;
  const limit = limitOf(given, LIST_DEFAULT, LIST_MAX);
  if (after !== undefined && typeof after !== 'string') throw new OperatorError('after: must be a position');
  return { limit, ...(after === undefined ? {} : { after }) };
}

/** A shelf's answer to what is no position. */
function refuseRange(error: unknown): never {
  throw error instanceof RangeError ? new OperatorError(error.message) : error;
}

/** Without the bytes: they may hold personal data. */
function quarantinedJson(position: string, record: Quarantined) {
  const { reason, detail, at, eventId, merchantId, bytes } = record;
  return { position, at: timestamp(at), reason, eventId, merchantId, bytes: bytes.length, detail };
}

/** Without the body: it holds personal data. */
function deadLetterJson(position: string, { task, reason, failureCode, at }: DeadLetter) {
  const { deliveryId, eventId, merchantId, endpointId, type, subType, attempt } = task;
  const event = { eventId, type, subType };
  return {
    position,
    at: timestamp(at),
    reason,
    failureCode,
    attempt,
    deliveryId,
    endpointId,
    merchantId,
    ...event,
  };
}
