/**
 * Guarantee: a webhook of every type, subType and version has exactly the specification's fields. The table is made from
 * the bodies that a real receiver got for events with every field, and for events with no more than they must have. It
 * is compared with the specification's tables, and is docs/webhook-fields.md, which `npx --no vitest run
 * specification-table -u` writes.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import {
  EARLIER_STATUS,
  has,
  SPECIFIED,
  sentValue,
  shows,
  VERSIONS,
  type Version,
} from '../support/models/specified-webhooks.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

type Json = Record<string, unknown>;
type Specified = (typeof SPECIFIED)[string];
type Column = Specified['columns'][number];

interface Case {
  readonly typeName: string;
  readonly type: Specified;
  readonly column: Column;
  readonly isWhole: boolean;
  readonly event: { readonly header: { readonly eventId: string; readonly entityId: string } };
}

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
const endpoints: Partial<Record<Version, string>> = {};

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
  for (const version of VERSIONS) {
    const made = await merchant.createEndpoint(`${receiver.url}/${version}`, { api_version: version });
    endpoints[version] = made.uuid;
  }
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

/** Returns an event in the producers' form, with every field of its type or with those that it must have. */
function eventOf(typeName: string, type: Specified, column: Column, isWhole: boolean) {
  const data: Json = {};
  for (const field of type.fields) {
    if (field.name === 'direction') continue;
    if (isWhole || (field.must && (field.on?.includes(column.name) ?? true)))
      put(data, field.name.split('.'), sentValue(field, column));
  }
  const header = {
    eventId: randomUUID(),
    merchantId: setup.merchantId,
    entityId: randomUUID(),
    entityKind: type.entityKind,
    subType: column.subType,
    occurredAt: '2025-01-01T00:00:00.000Z',
    simulated: false,
  };
  // A status update is about the event's own entity.
  if (typeName === 'entityStatusUpdate') header.entityId = data.uuid as typeof header.entityId;
  return { type: typeName, header, data };
}

function put(object: Json, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) object[first] = value;
  else {
    object[first] ??= {};
    put(object[first] as Json, rest, value);
  }
}

/** Returns the fields of a body by path; arrays are one value. */
function flat(object: Json, before = ''): [path: string, value: unknown][] {
  return Object.entries(object).flatMap(([name, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? flat(value as Json, `${before}${name}.`)
      : [[before + name, value]],
  );
}

/** Returns the data that the specification has for an event in a version. */
function specified({ type, column, isWhole }: Case, version: Version): [string, unknown][] {
  return type.fields
    .filter((field) => shows(field, column, version) && (isWhole || field.must))
    .map((field) => {
      const sent = sentValue(field, column);
      if (field.name === 'status' && version === '2.2.8')
        return ['status', EARLIER_STATUS[String(sent)] ?? sent];
      return [field.name, field.type === 'number' && sent !== null ? Number(sent) : sent];
    });
}

const arrived = (version: Version) => receiver.arrivals.filter(({ path }) => path === `/${version}`);
const sorted = (fields: [string, unknown][]) => fields.sort(([a], [b]) => a.localeCompare(b));

it('a webhook has exactly the fields that the specification has for its type, subType and version', async () => {
  const cases = Object.entries(SPECIFIED).flatMap(([typeName, type]) =>
    type.columns.flatMap((column) =>
      [true, false].map((isWhole): Case => {
        const event = eventOf(typeName, type, column, isWhole);
        return { typeName, type, column, isWhole, event };
      }),
    ),
  );
  const answer = await merchant.publish(cases.map(({ event }) => event));
  expect(answer.body).toMatchObject({ accepted: cases.length });
  const seen: Record<string, Json> = {};
  for (const version of VERSIONS) {
    const wanted = cases.filter(({ type, column }) => has(type, column, version));
    await eventually('all arrive', () => arrived(version).length >= wanted.length, 30_000);
    for (const { headers, body } of arrived(version))
      seen[`${version} ${headers['webhook-id']}`] = JSON.parse(body.toString());
    // Also none that the version does not have.
    const path = `/merchant/webhook-endpoints/${endpoints[version]}/deliveries?limit=100`;
    await eventually('all are in the log', async () => {
      const { body } = await merchant.request('GET', path);
      return body.data.filter(({ status }: Json) => status === 'delivered').length >= wanted.length;
    });
    expect((await merchant.request('GET', path)).body.data).toHaveLength(wanted.length);
    for (const each of wanted) {
      const { typeName, column, event, isWhole } = each;
      const where = `${typeName}/${column.name} ${version} ${isWhole ? 'whole' : 'least'}`;
      const body = seen[`${version} ${event.header.eventId}`] ?? {};
      expect([where, Object.keys(body)]).toEqual([where, ['type', 'subType', 'uuid', 'data']]);
      expect(body).toMatchObject({ type: typeName, subType: column.subType, uuid: event.header.entityId });
      expect([where, sorted(flat(body.data as Json))]).toEqual([where, sorted(specified(each, version))]);
    }
  }
  await expect(pageOf(cases, seen)).toMatchFileSnapshot('../../docs/webhook-fields.md');
});

it('a merchant without the setting for it does not get the sender’s bank details', async () => {
  await hookrail.store.merchants.update(setup.merchantId, { senderAccountDetails: false });
  const type = SPECIFIED.fiatToCrypto as Specified;
  const column = type.columns[0] as Column;
  const details = async () => {
    const event = eventOf('fiatToCrypto', type, column, true);
    await merchant.publish([event]);
    const arrival = await eventually('the webhook', () =>
      arrived('2.3.8').find(({ headers }) => headers['webhook-id'] === event.header.eventId),
    );
    return JSON.parse(arrival.body.toString()).data.senderDetails;
  };
  const shown = await eventually('the setting is in force', async () => {
    const seen = await details();
    return seen.accountDetails === undefined && seen;
  });
  expect(shown).toEqual({ senderName: 'Anna Keller', senderCountry: 'DE' });
});

const PAGE_TOP = `# Fields of the webhooks

A cell says in which API versions such a webhook shows the field: \`both\`, only \`2.3.8\`, or never. An optional field is there only if the
platform knows it. Types with the one subType \`statusUpdate\` have a column for each status; ledgers in 2.2.8 say \`PENDING\` for
\`WAITING_CREATION\` and \`FAILED\` for \`FAILED_CREATION\`. \`senderDetails.accountDetails\` is sent to certain merchants only.
[Move from 2.2.8 to 2.3.8](guides/move-to-2.3.8.md) has the differences alone.

The tables are what a receiver got for events with every field (\`test/guarantees/specification-table.test.ts\`).
`;

/** Returns the page: for each type a table of its fields by subType, as they were delivered. */
function pageOf(cases: readonly Case[], seen: Readonly<Record<string, Json>>): string {
  const parts = Object.entries(SPECIFIED).map(([typeName, type]) => {
    const whole = cases.filter((each) => each.typeName === typeName && each.isWhole);
    const fieldsOf = ({ event }: Case, version: Version) => {
      const body = seen[`${version} ${event.header.eventId}`];
      return body && flat(body.data as Json).map(([path]) => path);
    };
    const rows = type.fields.map(({ name }) => {
      const cells = whole.map((each) => {
        const [now, before] = VERSIONS.map((version) => fieldsOf(each, version)?.includes(name));
        return now && before ? 'both' : now ? '2.3.8' : before ? '2.2.8' : '';
      });
      return `| ${[`\`${name}\``, ...cells].join(' | ')} |`;
    });
    const heads = whole.map(({ column }) => column.name);
    return [
      `## ${typeName}\n`,
      `| field | ${heads.join(' | ')} |`,
      `|---|${heads.map(() => '---|').join('')}`,
      ...rows,
    ].join('\n');
  });
  return `${PAGE_TOP}\n${parts.join('\n\n')}\n`;
}
