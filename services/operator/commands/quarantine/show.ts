import { writeFileSync } from 'node:fs';
import type { ClearText } from '../../../broker/broker.ts';
import { asBuffer } from '../../../codec/record-codec.ts';
import type { ContentFault } from '../../../domain/content/content-fault.ts';
import { contentFaults } from '../../../domain/content/content-faults.ts';
import { newEventId, type Quarantined, type QuarantineReason } from '../../../domain/quarantine.ts';
import { QUARANTINE_TEXTS } from '../../../domain/routing/quarantine-texts.ts';
import { visible } from '../../../domain/text/visible-text.ts';
import { plain, WIDTH } from '../../../messages/text-layout.ts';
import type { Arguments, Given } from '../arguments.ts';
import type { BrokerContext, OperatedBroker } from '../command.ts';
import { OperatorError } from '../operator-error.ts';
import { hexDump } from './hex-dump.ts';
import { markedJson } from './marked-json.ts';
import { originJson, quarantinedJson, refuseRange } from './record-json.ts';
import { CONFLICT } from './replay.ts';

/** One quarantined record in clear text, with its faults marked, and what a replay would do with it. */

export const SHOWN = {
  position: {
    type: 'text',
    required: true,
    positional: true,
    describe: 'Position from quarantine list',
  },
  encoding: {
    type: 'text',
    choices: ['hex', 'base64'],
    default: 'hex',
    local: true,
    describe: 'Encoding of the record’s bytes in the JSON',
  },
  file: { type: 'path', local: true, describe: 'Write the bytes into this new file instead' },
} as const satisfies Arguments;

/** Where the fault of a sound event is, for the reasons that are about one field. */
const FAULT_AT: Partial<Record<QuarantineReason, string>> = {
  unknown_merchant: '/header/merchantId',
  simulated_in_production: '/header/simulated',
  event_id_conflict: '/header/eventId',
};

export type Shown = Awaited<ReturnType<typeof show>>;
/** With its bytes in an encoding, or the file that has them. */
type Shaped = Omit<Shown, 'base64'> & { readonly [Name in 'hex' | 'base64' | 'file']?: string };

export async function show(
  { quarantine }: Pick<OperatedBroker, 'quarantine'>,
  { position }: Given<typeof SHOWN>,
  { now, audit, stillRefused }: BrokerContext,
) {
  const record = await quarantine.read(position).catch(refuseRange);
  if (!record)
    throw new OperatorError(`there is no record at ${position} in quarantine: see quarantine list`);
  const { eventId, merchantId, bytes } = record;
  await audit('quarantine.show', { position, eventId }, merchantId);
  const clear = await quarantine.clearText(record);
  const { requeued, refused } = await quarantine.requeue([position], {
    isDryRun: true,
    ...(stillRefused && { stillRefused }),
  });
  const isGone = requeued === 0 && refused.length === 0;
  const refusal = isGone ? 'it is no longer in quarantine' : (refused[0]?.detail ?? null);
  const { remedy, ...fields } = quarantinedJson(position, record);
  return {
    ...fields,
    ...{ cause: QUARANTINE_TEXTS[record.reason].cause, remedy },
    ...originJson(record),
    ...contentJson(clear),
    faults: faultsOf(record, clear, now),
    ...replayJson(record, { position, refusal, isChecked: stillRefused !== undefined }),
    base64: asBuffer(bytes).toString('base64'),
  };
}

/** Adds the bytes in the encoding that was asked for, or writes them. */
export function withBytes({ base64, ...rest }: Shown, { encoding, file }: Given<typeof SHOWN>): Shaped {
  const bytes = Buffer.from(base64, 'base64');
  if (file === undefined) return { ...rest, [encoding]: bytes.toString(encoding) };
  // For its owner only, and never over another file: it may hold personal data.
  writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
  return { ...rest, file };
}

/** The fields, below them the record with its faults, and what a replay would do. */
export function shownText(result: object, fieldLines: (fields: object) => string): string {
  const { event, task, journal, unreadable, faults, replay, wouldReturn, hex, base64, ...fields } =
    result as Shaped;
  const documents = Object.entries({ event, task, journal }).filter(([, each]) => each != null);
  const bytes = hex === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(hex, 'hex');
  return [
    fieldLines(fields),
    ...documents.map(([kind, document]) => `${kind}:\n${markedJson(document, faults)}`),
    ...(unreadable === null
      ? []
      : [plain.fold(visible(`cannot be shown in clear text: ${unreadable}`), WIDTH)]),
    ...(unreadable === null || fields.file !== undefined ? [] : [hexDump(bytes)]),
    plain.fold(visible(`replay: ${replay}`), WIDTH),
  ].join('\n');
}

/** `event` is null where the record holds none, or cannot be read. */
function contentJson(clear: ClearText): {
  readonly event: unknown;
  readonly task?: unknown;
  readonly journal?: unknown;
  readonly unreadable: string | null;
} {
  if (clear.kind === 'unreadable') return { event: null, unreadable: clear.why };
  return { event: null, [clear.kind]: clear.document, unreadable: null };
}

/** Returns what is wrong with an event now; of a reason that is about one field, what was wrong when it came. */
function faultsOf({ reason, detail }: Quarantined, clear: ClearText, now: number): readonly ContentFault[] {
  if (clear.kind !== 'event') return [];
  const ofContent = clear.event === undefined ? clear.problems : contentFaults(clear.event, now);
  const pointer = FAULT_AT[reason];
  const ofReason = pointer === undefined ? [] : [{ pointer, detail }];
  return [...ofContent, ...ofReason].map(({ pointer: at, detail: why }) => ({ pointer: at, detail: why }));
}

/** `wouldReturn`: why a replay would leave the record where it is; null where it would not. */
function replayJson(
  record: Quarantined,
  {
    position,
    refusal,
    isChecked,
  }: { readonly position: string; readonly refusal: string | null; readonly isChecked: boolean },
) {
  const newId = newEventId(record);
  if (refusal !== null) return { wouldReturn: refusal, replay: `it stays: ${refusal}` };
  if (newId !== null)
    return {
      wouldReturn: CONFLICT,
      replay: `it stays: ${CONFLICT}. quarantine replay ${position} --as-new-event publishes it as event ${newId}`,
    };
  const goes = `quarantine replay ${position} puts it back where it came from`;
  const unchecked = '; unchecked, since no service runs here that knows the merchants';
  return { wouldReturn: null, replay: isChecked ? goes : goes + unchecked };
}
