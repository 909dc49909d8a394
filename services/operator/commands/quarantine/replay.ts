import type { Requeued } from '../../../broker/broker.ts';
import { isByFilter } from '../../../management/quarantine/choice.ts';
import {
  conflictText,
  type NewEvent,
  type ReplayedRecords,
  replayQuarantined,
} from '../../../management/quarantine/replay.ts';
import type { Arguments, Given } from '../arguments.ts';
import type { BrokerContext, OperatedBroker } from '../command.ts';
import { FILTER, filterOf } from './filter.ts';

/** The most refusals, or new events, in a response; the others are still listed by `quarantine list`. */
const SHOWN_MAX = 20;
/** How a conflict is asked for under a new id. */
export const AS_NEW_EVENT = '--as-new-event';

/** `refusals` has the first refused records, `newEvents` the first that were published under new ids. */
interface Replayed {
  readonly dryRun?: true;
  readonly replayed: number;
  /** Conflicts that were left out. */
  readonly conflicts?: { readonly leftOut: number; readonly detail: string };
  readonly refused?: number;
  readonly refusals?: Requeued['refused'];
  readonly newEvents?: readonly NewEvent[];
}

export const REPLAYED = {
  positions: { type: 'texts', positional: true, describe: 'Positions from quarantine list' },
  all: { type: 'flag', describe: 'All records in quarantine, except conflicts' },
  asNewEvent: {
    type: 'flag',
    describe: 'Also conflicts (event_id_conflict), each as another event with a new id',
  },
  dryRun: { type: 'flag', describe: 'Only say what would become of the records' },
  ...FILTER,
} as const satisfies Arguments;

type Chosen = Given<typeof REPLAYED>;

/** Returns what is wrong with a choice: it must be one of both. */
export function refuseChoice(given: Chosen): string | undefined {
  const { positions = [], all = false } = given;
  if (isByFilter({ ...given, all }) !== positions.length > 0) return undefined;
  return 'give positions (see quarantine list), or --all, --reason, --merchant, --about or --since';
}

export async function replay(
  broker: Pick<OperatedBroker, 'quarantine' | 'stalls'>,
  given: Chosen,
  context: BrokerContext,
): Promise<Replayed> {
  const { positions = [], all = false, asNewEvent = false, dryRun: isDryRun = false } = given;
  const choice = { positions, all, ...filterOf(given, context.now) };
  const deps = { quarantine: broker.quarantine, stalls: broker.stalls, ...context };
  const done = await replayQuarantined(deps, choice, { asNewEvent, isDryRun, asked: AS_NEW_EVENT });
  return { ...(isDryRun && { dryRun: true }), ...shown(done) };
}

function shown({ requeued, leftOut, refused, newEvents }: ReplayedRecords): Replayed {
  return {
    replayed: requeued,
    ...(leftOut > 0 && { conflicts: { leftOut, detail: conflictText(AS_NEW_EVENT) } }),
    ...(refused.length > 0 && { refused: refused.length, refusals: refused.slice(0, SHOWN_MAX) }),
    ...(newEvents.length > 0 && { newEvents: newEvents.slice(0, SHOWN_MAX) }),
  };
}
