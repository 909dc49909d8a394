/** Records that cannot be delivered. Each must end in quarantine without stopping the records after it. */
import { randomUUID } from 'node:crypto';
import { type Case, type CaseContext, type CaseRecord, eventRecord, newIds, rawCase } from './case.ts';
import { type Ids, kycEvent, onRampEvent, wireFormat } from './event-variants.ts';
import { MODES } from './job.ts';

const UNKNOWN_ID = 987_654_321;

export function poisonCases(context: CaseContext): Case[] {
  return [...junkCases(context), ...violationCases(context)];
}

function junkCases(context: CaseContext): Case[] {
  const { schemaIdOf } = context;
  const good = wireFormat('ours', schemaIdOf('ours'), kycEvent(newIds(context)));
  const underId = (id: number) => {
    const bytes = Buffer.from(good);
    bytes.writeUInt32BE(id, 1);
    return bytes;
  };
  const poison = (row: string, reason: string, raw: Buffer | null, change: Partial<CaseRecord> = {}) =>
    rawCase('poison', row, reason, raw, change);
  const cases = [
    poison('JSON', 'undecodable', Buffer.from('{"type":"KYC","subType":"FULL_USER"}')),
    poison('Avro without the prefix', 'undecodable', good.subarray(5)),
    poison('prefix and nothing else', 'undecodable', good.subarray(0, 5)),
    poison('one byte', 'undecodable', Buffer.from([0])),
    poison('no bytes', 'undecodable', Buffer.alloc(0)),
    poison('tombstone', 'undecodable', null),
    poison('cut off', 'undecodable', good.subarray(0, -5)),
    poison('another schema’s id', 'undecodable', underId(schemaIdOf('KYB'))),
    poison('unknown schema id', 'unknown_schema', underId(UNKNOWN_ID)),
  ];
  for (const mode of MODES.filter((each) => each !== 'plain')) {
    const junk = poison(`junk, ${mode}`, 'undecodable', Buffer.from('junk'), { mode, codec: 'gzip' });
    cases.push(mode === 'abort' ? { ...junk, expected: ['not committed'] } : junk);
  }
  return cases;
}

/** Returns events that are valid by the schema but not by the catalog. */
function violationCases(context: CaseContext): Case[] {
  const one = (
    row: string,
    change: (ids: Ids) => Parameters<typeof kycEvent>[2],
    known?: Partial<Ids>,
  ): Case => {
    const ids = { ...newIds(context), ...known };
    const record = eventRecord(ids, 'ours', kycEvent(ids, 0, change(ids)));
    return { name: row, row, group: 'poison', expected: ['quarantined: schema_violation'], record };
  };
  const withHeader = (row: string, header: Readonly<Record<string, unknown>>) => one(row, () => ({ header }));
  const withData = (row: string, data: Readonly<Record<string, unknown>>) => one(row, () => ({ data }));
  const stranger = one('unknown merchant', () => ({}), { merchantId: randomUUID() });
  const unborn = newIds(context);
  return [
    withHeader('subType of another type', { subType: 'SUCCESS' }),
    withData('malformed status', { status: 'Full user' }),
    withData('malformed kind of document', {
      docs_missing: [{ docType: 'retina', docSubType: null }],
    }),
    { ...stranger, expected: ['quarantined: unknown_merchant'] },
    enumCase(context),
    {
      name: 'field missing that the subType requires',
      row: 'field missing that the subType requires',
      group: 'poison',
      expected: ['quarantined: schema_violation'],
      record: eventRecord(unborn, 'fiatToCrypto', onRampEvent(unborn, { amountCrypto: null, fees: null })),
    },
  ];
}

/** Returns an event with an enum index, as Avro encodes symbols, that no symbol has. */
function enumCase(context: CaseContext): Case {
  const ids = newIds(context);
  const bytes = wireFormat('ours', context.schemaIdOf('ours'), kycEvent(ids));
  // The index of entityKind follows the third id of the header; 14 is 7 in zigzag encoding.
  const at = bytes.indexOf(ids.entityId) + ids.entityId.length;
  bytes[at] = 14;
  return rawCase('poison', 'enum index without a symbol', 'undecodable', bytes);
}
