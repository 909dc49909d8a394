/**
 * Generates schemas/webhooks.yaml, the part of the API description that says what endpoints receive: a schema from the
 * presence table and an example from the samples for each type, subType and version. scripts/generate-description.ts
 * joins it with openapi.yaml. The console's catalogue has the same examples, and the documented receivers. `--check` writes nothing and exits 1 when the file is out of date.
 */
import { fileURLToPath } from 'node:url';
import { Document, visit } from 'yaml';
import { entityKindsOf, fieldsOf, isShown } from '../services/domain/catalog/catalog.ts';
import { API_VERSION_DEFAULT, type ApiVersion } from '../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../services/domain/event.ts';
import { uuidV5 } from '../services/domain/ids.ts';
import { ATTEMPTS_MAX, TIERS } from '../services/domain/retry.ts';
import { renderBody } from '../services/domain/versions/render.ts';
import { sampleEvent } from '../services/samples/sample.ts';
import { keepGenerated } from './keep-generated.ts';
import {
  anyBodySchema,
  bodyName,
  bodySchema,
  ENTITY_SCHEMAS,
  type Json,
  knownValues,
  type SharedSchemas,
  sortsOf,
} from './webhooks/body-schema.ts';
import { consoleSamples } from './webhooks/console-samples.ts';
import { consoleScenarios } from './webhooks/console-scenarios.ts';
import { OCCURRED_AT, webhookParameters } from './webhooks/headers.ts';

const TARGET = 'schemas/webhooks.yaml';
const CONSOLE_TARGET = 'console/generated/samples.json';
const SCENARIOS_TARGET = 'console/generated/scenarios.json';
const USER = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
const CORPORATE = 'c0a8b1f6-2d4e-4f7a-9b3c-5e6d7f8a9b01';
const EVENT = '5c1f1f0e-2f35-4d0f-9d55-0d0a3e0c6b77';
const LINE_WIDTH = 110;

interface Sort {
  readonly subType: string;
  readonly version: ApiVersion;
}

/** The bytes that a merchant gets for an event of the samples; `status` where the subType leaves a choice. */
function sampleBody(type: EventType, { subType, version }: Sort, status?: string): string {
  const isUser = entityKindsOf(type).includes('USER');
  const event = sampleEvent({
    type,
    subType,
    merchantId: '0a4f6a52-41f4-4c25-9a3e-9d4b8c4d6a10',
    entityId: isUser ? USER : CORPORATE,
    seed: uuidV5('reference', type),
    occurredAt: OCCURRED_AT,
    eventId: EVENT,
    ...(status === undefined ? {} : { choices: { status } }),
  });
  const rendered = renderBody(event, version, { senderAccountDetails: false });
  if (rendered.kind !== 'rendered')
    throw new Error(`the sample of ${type} ${subType} in ${version} is ${rendered.kind}`);
  return Buffer.from(rendered.body).toString('utf8');
}

/** Examples of one sort of body by name: one, or one for each `status` where the subType leaves a choice. */
function examplesOf(type: EventType, sort: Sort): [string, Json][] {
  const { subType, version } = sort;
  const field = fieldsOf(type).find(({ name }) => name === 'status');
  const isStatus = field !== undefined && isShown(field, subType, version);
  const choices = (isStatus && (field.valuesOn?.[subType] ?? field.values)) || [undefined];
  const known = (isStatus && knownValues(field, subType, version)) || [];
  return choices.map((status, index) => {
    const shown = choices.length > 1 ? ` ${known[index]}` : '';
    const text = sampleBody(type, sort, choices.length > 1 ? status : undefined);
    const value: unknown = JSON.parse(text);
    // An amount that a number cannot hold would be another amount in the reference.
    if (JSON.stringify(value) !== text) throw new Error(`the sample of ${type} ${subType} loses digits`);
    const name = bodyName(type, `${subType}${shown.replace(' ', '.')}`, version);
    return [name, { summary: `${subType}${shown}, version ${version}`, value }];
  });
}

const delays = TIERS.map((seconds) => `${seconds.toLocaleString('en')} s`);

const RULES = [
  'Any 2xx acknowledges it. Anything else (redirects too), or no answer within 10 seconds, is a failed attempt:',
  `at most ${ATTEMPTS_MAX} attempts, ${delays.slice(0, -1).join(', ')} and ${delays.at(-1)} after the one before.`,
  '410 disables the endpoint. The same event may come more than once: `webhook-id` stays the same.',
].join(' ');

function webhookOf(type: EventType, parameters: readonly string[]): Json {
  return {
    post: {
      operationId: `receive${type.charAt(0).toUpperCase()}${type.slice(1)}`,
      tags: ['Webhooks'],
      summary: `An event of type ${type}`,
      description: RULES,
      security: [{ signingSecret: [] }],
      parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: `#/components/schemas/${type}` },
            examples: Object.fromEntries(sortsOf(type).flatMap((sort) => examplesOf(type, sort))),
          },
        },
      },
      responses: {
        '2XX': { description: 'Acknowledged. The body is ignored.' },
        '410': { description: 'The endpoint is gone. hookrail auto-disables it.' },
        default: { description: 'Not acknowledged. The delivery is attempted again.' },
      },
    },
  };
}

/** The document; the same for the same catalog and samples. */
export function webhooksDocument(): Json {
  const shared: SharedSchemas = new Map();
  const bodies: [string, Json][] = EVENT_TYPES.flatMap((type) => [
    [type, anyBodySchema(type)] as [string, Json],
    ...sortsOf(type).map((sort): [string, Json] => [
      bodyName(type, sort.subType, sort.version),
      bodySchema(type, sort, shared),
    ]),
  ]);
  const first = sampleBody('KYC', { subType: 'FULL_USER', version: API_VERSION_DEFAULT });
  const parameters = webhookParameters(EVENT, first);
  return {
    openapi: '3.1.0',
    info: {
      title: 'hookrail webhooks',
      summary: 'What your endpoints receive.',
      version: API_VERSION_DEFAULT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [
      {
        name: 'Webhooks',
        description: 'What your endpoints receive: a schema and an example per type, subType and version.',
      },
    ],
    webhooks: Object.fromEntries(
      EVENT_TYPES.map((type) => [type, webhookOf(type, Object.keys(parameters))] as const),
    ),
    components: {
      securitySchemes: {
        signingSecret: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            '`API-Key` and the signing secret of the endpoint. Discard the request if it does not match.',
        },
      },
      parameters,
      schemas: {
        ...ENTITY_SCHEMAS,
        ...Object.fromEntries(bodies),
        ...Object.fromEntries(shared),
      },
    },
  };
}

/** The document as YAML: what fits on a line stands on one. */
function webhooksYaml(): string {
  const document = new Document(webhooksDocument(), { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, node, path) {
      const fits = JSON.stringify(node.toJSON()).length + 2 * path.length < LINE_WIDTH;
      if (fits && node.items.length > 0) node.flow = true;
    },
  });
  const head =
    '# Generated by scripts/generate-webhooks.ts from the catalog and the samples. Do not edit: run `npm run generate`.\n';
  return head + document.toString({ lineWidth: LINE_WIDTH + 10, flowCollectionPadding: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  keepGenerated(TARGET, webhooksYaml(), 'the catalog or the samples');
  const samples = JSON.stringify(consoleSamples(sampleBody), null, 1);
  keepGenerated(CONSOLE_TARGET, `${samples}\n`, 'the catalog, the samples or docs/receivers');
  const scenarios = JSON.stringify(consoleScenarios(), null, 1);
  keepGenerated(SCENARIOS_TARGET, `${scenarios}\n`, 'the library of scenarios');
}
