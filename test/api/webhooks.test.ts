/**
 * The description of webhooks: a schema and an example for each type, subType and version. A body that the service
 * makes is valid; one without a required field, or with a field that its version does not have, is not.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsOf, isShown, SUB_TYPES, subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { API_VERSIONS } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { NOTICE_TYPES } from '../../services/domain/notices/notice.ts';
import { NOTICE_CATALOG } from '../../services/domain/notices/notice-catalog.ts';
import { renderNotice } from '../../services/domain/notices/render-notice.ts';
import { renderBody } from '../../services/domain/versions/render.ts';
import { sampledNotice } from '../../services/samples/notice-sample.ts';
import { sampleEvents } from '../samples/sample-options.ts';
import { mismatch, openapi } from '../support/api/openapi-check.ts';

const SORTS = EVENT_TYPES.flatMap((type) =>
  API_VERSIONS.flatMap((version) =>
    subTypesOf(type, version).map((subType) => ({
      type,
      version,
      subType,
      name: `${type}.${subType}.${version}`,
    })),
  ),
);
const UUID = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
const schema = (name: string) => `/components/schemas/${name}`;

// biome-ignore lint/suspicious/noExplicitAny: parsed bodies.
function examplesOf(type: string): [string, any][] {
  const { examples } = openapi.webhooks[type].post.requestBody.content['application/json'];
  return Object.entries<{ value: object }>(examples).map(([name, { value }]) => [name, value]);
}

test('the API description has a webhook per event type, and one for operational notices', () => {
  expect(Object.keys(openapi.webhooks)).toEqual([...EVENT_TYPES, 'operationalNotice']);
});

describe.each(SORTS)('the webhook $name', ({ type, version, subType, name }) => {
  test('has a schema with the fields of the presence table', () => {
    const { properties } = openapi.components.schemas[name];
    const shown = fieldsOf(type).filter((field) => isShown(field, subType, version));
    expect(Object.keys(properties.data.properties)).toEqual(shown.map((field) => field.name));
    expect(openapi.components.schemas[type].anyOf).toContainEqual({ $ref: `#${schema(name)}` });
  });

  test('has examples that are valid, and invalid without any required field', () => {
    const own = examplesOf(type).filter(
      ([key]) => key.startsWith(`${type}.${subType}.`) && key.endsWith(`.${version}`),
    );
    expect(own.length).toBeGreaterThan(0);
    for (const [, body] of own) {
      expect(mismatch(schema(name), body)).toBeUndefined();
      expect(mismatch(schema(type), body)).toBeUndefined();
      for (const field of fieldsOf(type).filter((each) => each.required && isShown(each, subType, version))) {
        const { [field.name]: _left, ...data } = body.data;
        expect([field.name, mismatch(schema(name), { ...body, data })]).not.toEqual([field.name, undefined]);
      }
    }
  });
});

test.each(NOTICE_TYPES)('the notice %s is valid in each subType, and not without a field', (type) => {
  const name = schema(`notice.${type}`);
  const { subTypes } = NOTICE_CATALOG[type];
  for (const subType of Object.keys(subTypes)) {
    const notice = sampledNotice({ noticeId: UUID, type, subType, merchantId: UUID, at: 0 });
    const body = JSON.parse(Buffer.from(renderNotice(notice, 'json')).toString('utf8'));
    expect(mismatch(name, body)).toBeUndefined();
    expect(JSON.stringify(body)).not.toMatch(/undefined|NaN/);
    for (const field of Object.keys(body.data)) {
      const { [field]: _left, ...data } = body.data;
      expect([field, mismatch(name, { ...body, data })]).not.toEqual([field, undefined]);
    }
    const slack = JSON.parse(Buffer.from(renderNotice(notice, 'slack')).toString('utf8'));
    expect(mismatch(schema('notice.slack'), slack)).toBeUndefined();
  }
});

test('every webhook example is of a known type and subType', () => {
  for (const type of EVENT_TYPES) {
    for (const [key, { subType }] of examplesOf(type)) {
      const version = API_VERSIONS.find((each) => key.endsWith(`.${each}`)) ?? '2.3.8';
      expect([key, subTypesOf(type, version)]).toEqual([key, expect.arrayContaining([subType])]);
    }
  }
});

test('the bodies of any event are valid, in every version, with and without the entitlement', () => {
  fc.assert(
    fc.property(sampleEvents, fc.constantFrom(...API_VERSIONS), fc.boolean(), (event, version, entitled) => {
      const rendered = renderBody(event, version, { senderAccountDetails: entitled });
      if (rendered.kind !== 'rendered') return;
      const body = JSON.parse(Buffer.from(rendered.body).toString('utf8'));
      expect(mismatch(schema(event.type), body)).toBeUndefined();
      expect(mismatch(schema(`${event.type}.${event.subType}.${version}`), body)).toBeUndefined();
    }),
  );
});

test('a webhook with a later subType or a later field is valid', () => {
  for (const type of EVENT_TYPES) {
    const [, body] = examplesOf(type)[0] ?? [];
    expect(mismatch(schema(type), { ...body, subType: 'LATER', data: {} })).toBeUndefined();
    expect(mismatch(schema(type), { ...body, data: { ...body.data, later: 1 } })).toBeUndefined();
    // A known subType is held to its schema.
    expect([type, mismatch(schema(type), { ...body, subType: SUB_TYPES[type][0], data: {} })]).not.toEqual([
      type,
      undefined,
    ]);
  }
});

test('the uuid of a webhook is described as the specification says whom its type concerns', () => {
  const kinds = Object.fromEntries(
    SORTS.map(({ type, name }) => [
      type,
      openapi.components.schemas[name].properties.uuid.$ref.split('/').at(-1),
    ]),
  );
  expect(kinds).toMatchObject({
    fiatToCrypto: 'EntityUuid',
    cryptoToFiat: 'UserUuid',
    KYC: 'UserUuid',
    KYB: 'CorporateUuid',
    serviceBankAccount: 'EntityUuid',
    linkBankAccount: 'EntityUuid',
    entityStatusUpdate: 'UserUuid',
  });
});

test('version 2.2.8 keeps its names for the ledger’s statuses', () => {
  const values = (version: string) =>
    openapi.components.schemas[`serviceBankAccount.statusUpdate.${version}`].properties.data.properties
      .status['x-known-values'];
  expect(values('2.2.8')).toEqual(['ACTIVE', 'PENDING', 'FAILED', 'DISABLED']);
  expect(values('2.3.8')).toEqual(['ACTIVE', 'WAITING_CREATION', 'FAILED_CREATION', 'DISABLED']);
});
