import type { PlantedBug } from '../planted-bug.ts';

const RESOLUTION = 'services/codec/written/resolution.ts';
const SCHEMA = 'services/codec/written/written-schema.ts';

const SCHEMAS = 'services/broker/kafka/registry/registry-schemas.ts';
const REFERENCES = 'services/broker/kafka/registry/registry-references.ts';

const ABSENT_TEST = 'test/broker/kafka/registry/absent-schemas.test.ts';
const READ_TEST = 'test/codec/resolution/read.test.ts';
const REFUSED_TEST = 'test/codec/resolution/refused.test.ts';

/** Avro: how a producer's record is read as ours, and how its schema is learnt. */
export const AVRO_BUGS: readonly PlantedBug[] = [
  {
    id: 'union-judged-as-whole',
    bug: 'a schema is refused for a branch that the record does not have',
    file: RESOLUTION,
    text: 'const reads: Read[] = [];',
    replacement: 'const reads: Read[] = writer.types.map((type) => this.read(type, own, at)).reverse();',
    test: READ_TEST,
    title: 'is read with',
  },
  {
    id: 'names-with-namespaces',
    bug: 'records of another namespace are taken for other records',
    file: RESOLUTION,
    text: 'unqualified(name) === unqualified(writer.name ?? ',
    replacement: 'name === (writer.name ?? ',
    test: READ_TEST,
    title: 'another namespace',
  },
  {
    id: 'any-long-is-a-time',
    bug: 'a long of any unit is read as milliseconds',
    file: RESOLUTION,
    text: "writer.typeName === 'long' && this.#written.logicalOf(writer)?.name === 'timestamp-millis'",
    replacement: "writer.typeName === 'long'",
    test: REFUSED_TEST,
    title: 'with field and unit',
  },
  {
    id: 'writers-scale-ignored',
    bug: 'an amount is read at our scale instead of the writer’s',
    file: RESOLUTION,
    text: 'const scale = logical.scale ?? 0;',
    replacement: 'const scale: unknown = own.scale;',
    test: READ_TEST,
    title: 'amounts in fixed bytes',
  },
  {
    id: 'writers-defaults-judged',
    bug: 'a schema is refused for a default that no reader needs',
    file: SCHEMA,
    text: 'name: valid(field.name),',
    replacement: "name: valid(field.name),\n    ...('default' in field ? { default: field.default } : {}),",
    test: READ_TEST,
    title: 'a default that does not fit',
  },
  {
    id: 'absence-believed-at-once',
    bug: 'the first response "no such schema" is believed',
    file: SCHEMAS,
    text: 'const PATIENCE_MS = 8_000;',
    replacement: 'const PATIENCE_MS = 0;',
    test: ABSENT_TEST,
    title: 'is asked for until it comes',
  },
  {
    id: 'absence-counts-for-later-records',
    bug: 'an absence counts for records that were read after the registry was asked',
    file: SCHEMAS,
    text: 'absence?.isBelieved === true && absence.askedAt >= readAt',
    replacement: 'absence?.isBelieved === true && absence.askedAt >= readAt - ABSENCE_MS',
    test: ABSENT_TEST,
    title: 'for records read before the last request only',
  },
  {
    id: 'patience-for-every-id',
    bug: 'each id that never existed is waited for as long as the first',
    file: SCHEMAS,
    text: 'PATIENCE_MS / 2 ** this.#beliefs.length',
    replacement: 'PATIENCE_MS',
    test: ABSENT_TEST,
    title: 'however many ids',
  },
  {
    id: 'references-of-references-left-out',
    bug: 'schemas that a reference refers to are not fetched',
    file: REFERENCES,
    text: 'const fault = await collect(answer.references, depth + 1);',
    replacement: 'const fault = await collect(undefined, depth + 1);',
    test: ABSENT_TEST,
    title: 'with all that it refers to',
  },
  {
    id: 'look-of-other-formats-untold',
    bug: 'a record without the prefix is refused without what it looks like',
    file: 'services/codec/event-avro.ts',
    text: 'detail: withLook(detail, lookOf(bytes))',
    replacement: 'detail',
    test: 'test/codec/bytes-look.test.ts',
    title: 'is named: ',
  },
];
