import { writeFileSync } from 'node:fs';
import type { ClearText } from '../../../broker/broker.ts';
import { asBuffer } from '../../../codec/record-codec.ts';
import { newEventId, type Quarantined } from '../../../domain/quarantine.ts';
import { QUARANTINE_TEXTS } from '../../../domain/routing/quarantine-texts.ts';
import { visible } from '../../../domain/text/visible-text.ts';
import { lookAtQuarantined } from '../../../management/quarantine/look.ts';
import { conflictText } from '../../../management/quarantine/replay.ts';
import { plain, WIDTH } from '../../../messages/text-layout.ts';
import type { Arguments, Given } from '../arguments.ts';
import type { BrokerContext, OperatedBroker } from '../command.ts';
import { hexDump } from './hex-dump.ts';
import { markedJson } from './marked-json.ts';
import { originJson, quarantinedJson, refuseRange } from './record-json.ts';
import { AS_NEW_EVENT } from './replay.ts';

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

export type Shown = Awaited<ReturnType<typeof show>>;
/** With its bytes in an encoding, or the file that has them. */
type Shaped = Omit<Shown, 'base64'> & { readonly [Name in 'hex' | 'base64' | 'file']?: string };

export async function show(
  { quarantine }: Pick<OperatedBroker, 'quarantine'>,
  { position }: Given<typeof SHOWN>,
  context: BrokerContext,
) {
  const look = await lookAtQuarantined({ quarantine, ...context }, position).catch(refuseRange);
  const { record, clear, faults, refusal } = look;
  const { remedy, ...fields } = quarantinedJson(position, record);
  return {
    ...fields,
    ...{ cause: QUARANTINE_TEXTS[record.reason].cause, remedy },
    ...originJson(record),
    ...contentJson(clear),
    faults,
    ...replayJson(record, { position, refusal, isChecked: context.stillRefused !== undefined }),
    base64: asBuffer(record.bytes).toString('base64'),
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
  const conflict = conflictText(AS_NEW_EVENT);
  if (newId !== null)
    return {
      wouldReturn: conflict,
      replay: `it stays: ${conflict}. quarantine replay ${position} --as-new-event publishes it as event ${newId}`,
    };
  const goes = `quarantine replay ${position} puts it back where it came from`;
  const unchecked = '; unchecked, since no service runs here that knows the merchants';
  return { wouldReturn: null, replay: isChecked ? goes : goes + unchecked };
}
