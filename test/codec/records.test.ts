/**
 * Guarantee: every record of hookrail's own streams comes back as it was written, alone or in the middle of a batch,
 * and what an older version wrote with an older schema stays readable.
 */
import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../services/codec/byte-writer.ts';
import type { RecordCodec } from '../../services/codec/record-codec.ts';
import {
  bytesAfterContent,
  deadLetterCodec,
  directoryCodec,
  eventCodec,
  journalCodec,
  quarantinedCodec,
  taskCodec,
} from '../../services/codec/records.ts';
import type { DirectoryChange } from '../../services/domain/directory.ts';
import type { DeadLetter } from '../../services/domain/journal.ts';
import type { Quarantined } from '../../services/domain/quarantine.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { bytes, event, journal, or, small, task, text, time } from '../support/records/any-records.ts';

const quarantined = fc.record({
  reason: fc.constant('undecodable'),
  detail: text,
  at: time,
  eventId: or(text),
  merchantId: or(text),
  bytes,
}) as unknown as fc.Arbitrary<Quarantined>;
const origin = fc.record({
  topic: text,
  partition: small,
  offset: small,
  timestamp: time,
  key: or(bytes),
  headers: fc.array(fc.record({ name: text, value: or(bytes) }), { maxLength: 3 }),
  valueBytes: or(small),
  isWhole: fc.boolean(),
});
/** The fields of an event that could be read. */
const about = fc.record(
  { entityId: text, subjectId: text, type: fc.constant('KYC' as const), subType: text, occurredAt: time },
  { requiredKeys: [] },
);
const quarantinedRecord = fc
  .tuple(quarantined, origin, about)
  .map(([record, from, known]) => ({ ...record, ...known, origin: from }));
const deadLetter = fc.record({ task, reason: text, failureCode: text, at: time });
const endpointFields = {
  uuid: text,
  merchantId: text,
  url: text,
  subscribedEvents: or(fc.array(text)),
  status: text,
  apiVersion: text,
  secret: fc.record({ keyId: text, ciphertext: text }),
  publicKeySignature: fc.boolean(),
  legacy: fc.boolean(),
  version: small,
};
const change = fc.oneof(
  fc.record({
    kind: fc.constant('merchant'),
    id: text,
    version: small,
    value: or(
      fc.record({
        merchantId: text,
        name: text,
        state: text,
        senderAccountDetails: fc.boolean(),
        version: small,
      }),
    ),
  }),
  fc.record({
    kind: fc.constant('endpoint'),
    id: text,
    version: small,
    value: or(
      fc.oneof(
        fc.record(endpointFields),
        fc.record({ ...endpointFields, notices: text }),
        fc.record({ ...endpointFields, prepared: fc.record({ keyId: text, ciphertext: text }) }),
        fc.record({
          ...endpointFields,
          headers: fc.record({
            names: fc.array(text),
            sealed: fc.record({ keyId: text, ciphertext: text }),
          }),
          requestsPerSecond: fc.integer({ min: 1, max: 1000 }),
        }),
      ),
    ),
  }),
) as unknown as fc.Arbitrary<DirectoryChange>;

/** Writes the records one after the other and reads them back the same way. */
function comesBack<T>(codec: RecordCodec<T>, record: fc.Arbitrary<T>): void {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), (records) => {
      const writer = new ByteWriter(new ArrayBuffer(16));
      for (const one of records) codec.encode(one, writer);
      const decoder = codec.decoder();
      let position = 0;
      for (const one of records) {
        // Equal in JSON's eyes too: no fields added, none undefined but an event's unknown publisher. (-0 is 0 there as in the events' JSON.)
        expect(JSON.stringify(sorted(decoder.decode(writer.written, position)))).toBe(
          JSON.stringify(sorted(one)),
        );
        position = decoder.end;
      }
      expect(position).toBe(writer.length);
    }),
    { numRuns: 50 },
  );
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}

describe('the record codecs', () => {
  it('decode tasks as they were encoded', () => comesBack(taskCodec, task));
  it('decode events as they were encoded', () => comesBack(eventCodec, event));
  it('decode journal entries as they were encoded', () => comesBack(journalCodec, journal));
  it('decode directory changes as they were encoded', () => comesBack(directoryCodec, change));
  it('decode quarantined records as they were encoded', () => comesBack(quarantinedCodec, quarantined));
  it('decode quarantined records with their place as they were encoded', () =>
    comesBack(quarantinedCodec, quarantinedRecord));
  it('decode dead letters as they were encoded', () =>
    comesBack(deadLetterCodec, deadLetter as unknown as fc.Arbitrary<DeadLetter>));
});

/** The fields of a quarantined record that its first version did not have. */
const LATER: readonly string[] = [
  ...['origin', 'deliveryId', 'endpointId', 'publishedBy'],
  ...['entityId', 'subjectId', 'type', 'subType', 'occurredAt'],
];

describe('the record schemas', () => {
  it('let a quarantined record without its place be read, and an earlier version read one of today', () => {
    const today = JSON.parse(quarantinedCodec.schema);
    const before = {
      ...today,
      fields: today.fields.filter(({ name }: { name: string }) => !LATER.includes(name)),
    };
    const earlier = avro.Type.forSchema(before);
    const [sample] = fc.sample(quarantinedRecord, 1);
    if (!sample) throw new Error('no sample');
    const written = Object.fromEntries(
      Object.entries(sample).filter(([name]) => !LATER.includes(name)),
    ) as unknown as Quarantined;
    const decoder = quarantinedCodec.decoder(JSON.stringify(before));
    expect(decoder.decode(earlier.toBuffer(written), 0)).toEqual(written);
    const resolver = earlier.createResolver(avro.Type.forSchema(today));
    const read = earlier.fromBuffer(quarantinedCodec.toBuffer(sample), resolver);
    expect({ ...read }).toEqual(written);
  });

  it('let an event be read that was written before it named its publisher and had a sequence', () => {
    const older = JSON.parse(eventCodec.schema);
    const later = ['publishedBy', 'sequence'];
    older.fields = older.fields.filter(({ name }: { name: string }) => !later.includes(name));
    const earlier = avro.Type.forSchema(older);
    fc.assert(
      fc.property(event, (one) => {
        const { publishedBy: _, sequence: __, ...unnamed } = one;
        const text = { ...unnamed, data: JSON.stringify(one.data) };
        const bytes = earlier.toBuffer(text);
        expect(eventCodec.decoder(JSON.stringify(older)).decode(bytes, 0)).toEqual(unnamed);
        // Its bytes are the content of an event of today, by which a repeat is recognised.
        const today = eventCodec.toBuffer(one);
        expect(today.subarray(0, today.length - bytesAfterContent(one))).toEqual(bytes);
      }),
    );
  });

  it('let a task be read that was written before parked, subjectId and sequence existed', () => {
    const older = JSON.parse(taskCodec.schema);
    const later = ['parked', 'subjectId', 'sequence'];
    older.fields = older.fields.filter(({ name }: { name: string }) => !later.includes(name));
    const [sample] = fc.sample(task, 1);
    if (!sample) throw new Error('no sample');
    const { parked: _, ...written } = { ...sample, subjectId: null, sequence: 0 };
    const now = taskCodec.toBuffer(written as DeliveryTask);
    // The fields are the last ones: an older writer's bytes are the same but for two nulls and a double.
    const before = now.subarray(0, now.length - 2 - 8);
    const read = taskCodec.decoder(JSON.stringify(older)).decode(before, 0);
    expect(read).toEqual({ ...written });
  });

  it('say where a record is cut short', () => {
    const [sample] = fc.sample(task, 1);
    if (!sample) throw new Error('no sample');
    const bytes = taskCodec.toBuffer(sample);
    expect(() => taskCodec.decoder().decode(bytes.subarray(0, bytes.length - 1), 0)).toThrow(/cut short/);
  });

  it('refuse a record that does not fit, and append nothing', () => {
    const writer = new ByteWriter();
    expect(() => taskCodec.encode({ deliveryId: 7 } as unknown as DeliveryTask, writer)).toThrow();
    expect(writer.length).toBe(0);
  });
});
