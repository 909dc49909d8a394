/** `hookrail sim catalog` shows every event of the specification, offline, with bodies as the service sends them. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SUB_TYPES, subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { API_VERSIONS } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { NOTICE_TYPES } from '../../services/domain/notices/notice.ts';
import { sampleBody } from '../../simulator/catalog/entries.ts';
import { readSchemas, schemaOf } from '../../simulator/catalog/schemas.ts';
import { EXIT } from '../../simulator/exit.ts';
import { simHere } from './support/command-line.ts';

/** Nothing is given: no address, no key, no data directory. */
async function typed(...args: readonly string[]) {
  const { code, stdout, stderr } = await simHere(['catalog', ...args, '--output', 'json'], {
    HOOKRAIL_DATA_DIR: '/none',
  });
  expect(code, stderr).toBe(EXIT.ok);
  return JSON.parse(stdout);
}

const schemas = await readSchemas();

const EVENTS = EVENT_TYPES.flatMap((type) => SUB_TYPES[type].map((subType) => ({ type, subType })));

test('the list has every type and subType, when each is sent and what may follow', async () => {
  const entries = await typed();
  expect(entries.map(({ type }: { type: string }) => type)).toEqual(EVENT_TYPES);
  for (const { type, about, sub_types } of entries) {
    expect(about).toMatch(/\.$/);
    expect(sub_types.map((each: { subType: string }) => each.subType)).toEqual(
      SUB_TYPES[type as (typeof EVENT_TYPES)[number]],
    );
    for (const each of sub_types) {
      expect(each.when).toMatch(/\.$/);
      expect(each.follows).toEqual(MACHINES[type]?.[each.subType] ?? null);
    }
  }
});

test('a version has its own types and subTypes only', async () => {
  const entries = await typed('--api-version', '2.2.8');
  for (const { type, sub_types } of entries) {
    expect(sub_types.map((each: { subType: string }) => each.subType)).toEqual(subTypesOf(type, '2.2.8'));
  }
  expect(entries.map(({ type }: { type: string }) => type)).not.toContain('KYB');
});

test('every sample body is valid by its JSON Schema, loses nothing in a parser, and is the reference’s', async () => {
  const { webhooks } = parse(readFileSync('schemas/webhooks.yaml', 'utf8'));
  let checked = 0;
  for (const { type, subType } of EVENTS) {
    for (const version of API_VERSIONS.filter((each) => subTypesOf(type, each).includes(subType))) {
      const body = sampleBody(type, subType, version) ?? '';
      expect(JSON.stringify(JSON.parse(body))).toBe(body);
      const ajv = new Ajv2020({ strict: false });
      addFormats.default(ajv);
      const validate = ajv.compile(schemaOf(`${type}.${subType}.${version}`, schemas));
      expect([validate(JSON.parse(body)), validate.errors]).toEqual([true, null]);
      expect(validate({ ...JSON.parse(body), subType: 'OTHER' })).toBe(false);
      const { examples } = webhooks[type].post.requestBody.content['application/json'];
      const values = Object.values(examples).map((example) => (example as { value: object }).value);
      expect(values).toContainEqual(JSON.parse(body));
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThan(EVENTS.length);
}, 60_000);

test('an event shows its body, a type its schema, and --openapi the description as it is served', async () => {
  const shown = await typed('cryptoToFiat/SUCCESS', '--api-version', '2.2.8');
  expect(shown).toMatchObject({ api_version: '2.2.8', body: { type: 'cryptoToFiat', subType: 'SUCCESS' } });
  expect(await typed('KYC', '--schema')).toEqual(schemaOf('KYC', schemas));
  const { stdout } = await simHere(['catalog', '--openapi']);
  expect(stdout).toBe(readFileSync('schemas/description.yaml', 'utf8'));
});

test.each([
  [
    ['fiatToCrypto/PENDING', '--api-version', '2.2.8'],
    '2.2.8 has no fiatToCrypto/PENDING; it has IN_PROGRESS',
  ],
  [['KYB', '--api-version', '2.2.8'], '2.2.8 has no type KYB'],
  [['KYB', '--schema', '--api-version', '2.2.8'], '2.2.8 has no type KYB'],
  [['KYZ'], '"KYZ" is not an event type; did you mean KYB, KYC?'],
  [['KYC/FULL'], 'KYC has no subType "FULL"'],
  [['--schema'], '--schema needs a type'],
  [['KYC', '--openapi'], 'give it alone'],
])('catalog %j ends with 2', async (args, message) => {
  const { code, stderr } = await simHere(['catalog', ...args]);
  expect([code, stderr]).toEqual([EXIT.usage, expect.stringContaining(message)]);
});

test('every notice about hookrail is listed, with its fields and a body that is valid by its schema', async () => {
  const entries = await typed('--notices');
  expect(entries.map(({ type }: { type: string }) => type)).toEqual(NOTICE_TYPES);
  for (const { type, about, sub_types } of entries) {
    expect(about).toMatch(/\.$/);
    const entry = await typed(type);
    expect(Object.keys(entry.fields)).toContain('whatToDo');
    const validate = new Ajv2020({ strict: false });
    addFormats.default(validate);
    const schema = await typed(type, '--schema');
    for (const { subType } of sub_types) {
      const shown = await typed(`${type}/${subType}`);
      expect(shown.body).toMatchObject({ type, subType });
      expect(validate.validate(schema, shown.body), JSON.stringify(validate.errors)).toBe(true);
    }
  }
});

test('a notice has no API version, and a wrong name of one is answered with the nearest', async () => {
  const refused = async (...args: readonly string[]) => {
    const { code, stderr } = await simHere(['catalog', ...args], { HOOKRAIL_DATA_DIR: '/none' });
    expect(code).toBe(EXIT.usage);
    return stderr;
  };
  expect(await refused('endpoint.failing', '--api-version', '2.2.8')).toContain('no API versions');
  expect(await refused('--notices', 'KYC')).toContain('give it alone');
  expect(await refused('endpoint.faling')).toContain('endpoint.failing');
  expect(await refused('endpoint.failing/AT_60')).toContain('AT_50, AT_75, AT_90');
});
