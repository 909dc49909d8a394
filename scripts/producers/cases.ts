/** Every case of the conformance run: the written record and its expected end. */
import { type Case, type CaseContext, type CaseRecord, type End, eventRecord, newIds } from './case.ts';
import { type Ids, kycEvent, onRampEvent, type SchemaName } from './event-variants.ts';
import { CODECS, MODES, type Mode, NAMINGS, type Naming } from './job.ts';
import { poisonCases } from './poison-cases.ts';
import { sizeCases } from './size-cases.ts';

/** Returns the cases for one client, with their own event ids. */
export function casesOf(context: CaseContext, isQuick: boolean): Case[] {
  return [
    ...matrix(context, isQuick),
    ...namingCases(context),
    ...schemaCases(context),
    ...sizeCases(context),
    ...eventCases(context),
    ...poisonCases(context),
  ];
}

const MATRIX_SCHEMAS = ['ours', 'field added to data', 'field added to header', 'new version'] as const;
const MATRIX_BYTES = [0, 64 * 1024] as const;

/**
 * Returns every combination of codec, mode, naming, schema and size. The quick form has every combination of codec and
 * mode, and cycles through the others.
 */
function matrix(context: CaseContext, isQuick: boolean): Case[] {
  const cases: Case[] = [];
  let turn = 0;
  for (const codec of CODECS) {
    for (const mode of MODES) {
      const combinations = NAMINGS.flatMap((naming) =>
        MATRIX_SCHEMAS.flatMap((schema) => MATRIX_BYTES.map((bytes) => ({ naming, schema, bytes }))),
      );
      // 7 and the number of combinations have no common divisor, so the cycle reaches all of them.
      const chosen = isQuick ? combinations.slice((7 * turn) % 24, ((7 * turn++) % 24) + 1) : combinations;
      for (const { naming, schema, bytes } of chosen) {
        const ids = newIds(context);
        cases.push({
          name: `${codec}, ${mode}, ${naming} naming, ${schema}, ${bytes === 0 ? 'small' : '64 KB'}`,
          row: `${codec}, ${MODE_NAMES[mode]}`,
          group: 'codecs and transactions',
          expected: [mode === 'abort' ? 'not committed' : 'delivered'],
          record: eventRecord(ids, schema, kycEvent(ids, bytes), { codec, mode, naming }),
        });
      }
    }
  }
  return cases;
}

const MODE_NAMES: Readonly<Record<Mode, string>> = {
  plain: 'plain',
  idempotent: 'idempotent',
  commit: 'transaction committed',
  abort: 'transaction aborted',
};

function namingCases(context: CaseContext): Case[] {
  const one = (naming: Naming): Case => {
    const ids = newIds(context);
    const row = { record: 'record name', topic: 'topic name', default: 'the client’s default' }[naming];
    const record = eventRecord(ids, 'ours', kycEvent(ids), { naming });
    return { name: `naming: ${row}`, row, group: 'naming', expected: ['delivered'], record };
  };
  return NAMINGS.map(one);
}

/** The registry checks compatibility under the record's name; this run has disabled the check under the topic's name. */
function schemaCases(context: CaseContext): Case[] {
  const one = (
    schema: SchemaName,
    naming: Naming,
    expected: readonly End[],
    event: (ids: Ids) => Readonly<Record<string, unknown>> = kycEvent,
  ): Case => {
    const ids = newIds(context);
    const name = `${schema}${naming === 'topic' ? ', unchecked' : ''}`;
    const record = eventRecord(ids, schema, event(ids), { naming });
    return { name: `schema: ${name}`, row: name, group: 'schemas', expected, record };
  };
  const invoice = ({ eventId }: Ids) => ({ number: eventId });
  return [
    one('field added to data', 'record', ['delivered']),
    one('field added to header', 'record', ['delivered']),
    one('new version', 'record', ['delivered']),
    one('optional field removed', 'record', ['delivered']),
    one('required field removed', 'record', ['refused by the registry']),
    one('required field removed', 'topic', ['quarantined: schema_violation']),
    one('required field added', 'record', ['refused by the registry']),
    one('required field added', 'topic', ['delivered']),
    one('enum symbol added', 'record', ['refused by the registry']),
    one('enum symbol added', 'topic', ['quarantined: schema_violation', 'delivered']),
    one('record that is no event', 'topic', ['quarantined: unusable_schema'], invoice),
  ];
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

/** Returns ordinary events in unusual records. */
function eventCases(context: CaseContext): Case[] {
  const one = (row: string, change: Partial<CaseRecord> = {}, expected: End = 'delivered'): Case => {
    const ids = newIds(context);
    const record = eventRecord(ids, 'ours', kycEvent(ids), change);
    return { name: row, row, group: 'events', expected: [expected], record };
  };
  const onRamp = newIds(context);
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  return [
    {
      name: 'amounts of 18 decimals',
      row: 'amounts of 18 decimals',
      group: 'events',
      expected: ['delivered'],
      bodyHas: ['0.123456789012345678', '250.5', '1.25'],
      record: eventRecord(onRamp, 'fiatToCrypto', onRampEvent(onRamp)),
    },
    one('no key', { key: null }),
    one('empty key', { key: '' }),
    one('timestamp 30 days back', { timestamp: Date.now() - 30 * DAY_MS }),
    one('timestamp 50 minutes ahead', { timestamp: Date.now() + 50 * MINUTE_MS }),
    one('timestamp 2 hours ahead', { timestamp: Date.now() + 120 * MINUTE_MS }, 'refused by Kafka'),
    one('header traceparent', { headers: [['traceparent', base64(trace)]] }),
    one('headers of garbage', {
      headers: [
        ['traceparent', base64(Buffer.from([0xff, 0x00, 0xfe]))],
        ['', base64('no name')],
        ['none', null],
        ['long', base64('x'.repeat(10_000))],
      ],
    }),
  ];
}
