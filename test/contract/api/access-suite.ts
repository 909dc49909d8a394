/**
 * Access control: every operation of openapi.yaml is called with every sort of key and, in each place of its path,
 * every sort of id. An unknown, deleted or foreign id gets one and the same answer, byte for byte but the request id;
 * so does every id without a valid key. A new operation is tested once it is described.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLATFORM_SCOPES, type PlatformScope } from '../../../services/domain/access/platform-scopes.ts';
import { createKey } from '../../../services/management/keys.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { OPERATOR } from '../../../services/store/change.ts';
import { exampleBody, isStream, keySchemeOf, operations } from '../../support/api/openapi-check.ts';
import { producerKey } from '../../support/api/routed-api.ts';
import {
  type Answer,
  type CallOptions,
  ENDPOINTS,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { KEYS } from '../../support/api/wrong-keys.ts';
import {
  ANY_TEXT,
  ID_CLASSES,
  type IdClass,
  type Ids,
  MALFORMED_IDS,
  NOT_FOUND,
  OwnedIds,
} from '../../support/models/owned-ids.ts';

let api: TestApi;
let owned: OwnedIds;
let others: Awaited<ReturnType<OwnedIds['others']>>;
let foreignBefore: string;
let ownProducer: string;

/** Declares hooks and tests for the APIs that `start` starts behind one address. */
export function accessSuite(start: (options: TestApiOptions) => Promise<TestApi>): void {
  beforeAll(async () => {
    api = await start({ endpointQuota: 10_000 });
    owned = new OwnedIds(api);
    ownProducer = (await producerKey(api, { merchants: [api.merchantId] })).key;
    others = await owned.others();
    foreignBefore = await foreignState();
  });
  afterAll(() => api.close());
  matrixTests();
  otherTests(start);
}

/** All that the other merchant sees of his. */
async function foreignState(): Promise<string> {
  const { id, delivery_id, event_id, subject_id } = others.foreign;
  const paths = [
    ENDPOINTS,
    `${ENDPOINTS}/${id}`,
    `${ENDPOINTS}/${id}/deliveries`,
    `${ENDPOINTS}/${id}/deliveries/${delivery_id}`,
    `/merchant/events/${event_id}`,
    `/merchant/subjects/${subject_id}`,
    `/merchant/lookup/${delivery_id}`,
  ];
  const answers = await Promise.all(paths.map((path) => api.call('GET', path, { key: api.keys.foreign })));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  return JSON.stringify(answers.map(({ body }) => body));
}

/** Makes a key of the platform with these scopes. */
async function scopedKey(scopes: readonly PlatformScope[]): Promise<string> {
  const deps = { ...api, random: systemRandom, actor: OPERATOR, environment: 'sandbox' } as const;
  return (await createKey(deps, { kind: 'platform', merchantId: null, name: null, scopes })).text;
}

/** A path with its ids. */
function pathWith(template: string, ids: Ids): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? '');
}

/** Everything of an answer that a caller could tell two apart by: all but the request's id, the time and what is left. */
function shown({ status, headers, text, body }: Answer): string {
  const own = new Set(['x-request-id', 'date', 'ratelimit']);
  const kept = [...headers].filter(([name]) => !own.has(name)).sort();
  return JSON.stringify([status, kept, text.replaceAll(body.request_id, '')]);
}

/** The ids of one class for a parameter. */
function idsOf(idClass: IdClass, name: string, ownIds: Ids): readonly string[] {
  if (idClass === 'malformed') return MALFORMED_IDS;
  return [(idClass === 'own' ? ownIds : others[idClass])[name] ?? ''];
}

/** Opened by a session of the console, or by a link: test/api/portal has their matrix. The others are public. */
const WITHOUT_KEY: readonly string[] = [
  '/console/session',
  '/.well-known/webhook-keys',
  '/.well-known/webhook-sources',
];
const keyed = operations().filter(({ path }) => !WITHOUT_KEY.includes(path));

export const CASES = keyed.map(({ method, path, operation }) => {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  return { name: `${method} ${path}`, method, path, operation, parameters };
});

function matrixTests(): void {
  describe.each(CASES)('$name', ({ method, path, operation, parameters }) => {
    const json = exampleBody(operation);
    const options: CallOptions = json === undefined ? {} : { json };
    const scheme = keySchemeOf(operation);
    /** A key of the merchant, or one that publishes for this merchant only. */
    const keyOfOwn = () =>
      scheme === 'platformKey'
        ? api.keys.platform
        : scheme !== 'producerKey'
          ? api.keys.own
          : parameters.length > 0
            ? ownProducer
            : api.keys.producer;

    test.each(Object.entries(KEYS[scheme] ?? {}))(
      'answers 401 to a key that is %s, whatever the ids',
      async (_sort, [keyOf, code]) => {
        const key = keyOf(api.keys);
        const ownIds = await owned.own();
        const seen = new Set<string>();
        for (const idClass of parameters.length > 0 ? ID_CLASSES : (['own'] as const)) {
          const ids = Object.fromEntries(
            parameters.map((name) => [name, idsOf(idClass, name, ownIds)[0] ?? '']),
          );
          const answer = await api.call(method, pathWith(path, ids), { ...options, key });
          expect([idClass, answer.status, answer.body.code]).toEqual([idClass, 401, code]);
          expect(answer.headers.get('www-authenticate')).toBe('API-Key');
          seen.add(shown(answer));
        }
        expect(seen.size).toBe(1);
      },
    );

    test('answers a valid key and the merchant’s own ids with success', async () => {
      const key = keyOfOwn();
      // A stream ends when everything was sent.
      const whole = pathWith(path, await owned.ownFor(operation)) + (isStream(operation) ? '?seconds=0' : '');
      const answer = await api.call(method, whole, { ...options, key });
      expect([answer.status, answer.text]).toEqual([
        expect.toSatisfy((status) => status < 300),
        expect.anything(),
      ]);
    });

    const scope = operation['x-scope'];
    test.runIf(scheme === 'platformKey')('needs the scope that it names, and no other', async () => {
      expect(PLATFORM_SCOPES, `${method} ${path}: name its scope in x-scope`).toContain(scope);
      const whole = pathWith(path, await owned.ownFor(operation));
      const others = PLATFORM_SCOPES.filter((each) => each !== scope);
      const refused = await api.call(method, whole, { ...options, key: await scopedKey(others) });
      expect([refused.status, refused.body]).toEqual([
        403,
        expect.objectContaining({ code: 'scope_missing', scope }),
      ]);
      const key = await scopedKey([scope as PlatformScope]);
      // What runs since the test before is no question of scopes.
      const accepted = await api.call(method, whole, { ...options, key });
      expect(accepted.status).toSatisfy((status: number) => status < 300 || status === 409);
    });

    for (const parameter of parameters) {
      test(`answers one 404 to a {${parameter}} that is foreign, random or deleted`, async () => {
        const seen = new Set<string>();
        for (const idClass of ['foreign', 'random', 'deleted'] as const) {
          const ids = { ...(await owned.own()), [parameter]: others[idClass][parameter] ?? '' };
          const answer = await api.call(method, pathWith(path, ids), { ...options, key: keyOfOwn() });
          expect([idClass, answer.status, answer.body.code]).toEqual([idClass, 404, NOT_FOUND[parameter]]);
          seen.add(shown(answer));
        }
        expect(seen.size).toBe(1);
      });

      if (ANY_TEXT.includes(parameter)) {
        test(`answers 404 to a {${parameter}} that is no UUID`, async () => {
          const ownIds = await owned.own();
          for (const id of MALFORMED_IDS) {
            const called = pathWith(path, { ...ownIds, [parameter]: id });
            const answer = await api.call(method, called, { ...options, key: keyOfOwn() });
            const expected = id === '%00' ? [400, 'validation_error'] : [404, NOT_FOUND[parameter]];
            expect([id, answer.status, answer.body.code]).toEqual([id, ...expected]);
          }
        });
        continue;
      }

      test(`answers 400 to a malformed {${parameter}}`, async () => {
        const ownIds = await owned.own();
        for (const id of MALFORMED_IDS) {
          const called = pathWith(path, { ...ownIds, [parameter]: id });
          const answer = await api.call(method, called, { ...options, key: keyOfOwn() });
          expect([id, answer.status, answer.body.code]).toEqual([id, 400, 'invalid_uuid']);
        }
      });
    }
  });
}

function otherTests(start: (options: TestApiOptions) => Promise<TestApi>): void {
  test('a delivery of another endpoint of the same merchant is not found at this one', async () => {
    const [one, other] = [await owned.own(), await owned.own()];
    const answer = await api.call('GET', `${ENDPOINTS}/${one.id}/deliveries/${other.delivery_id}`);
    expect([answer.status, answer.body.code]).toEqual([404, 'delivery_not_found']);
  });

  test('the refused requests changed nothing that belongs to the other merchant', async () => {
    expect(await foreignState()).toBe(foreignBefore);
  });

  test('an id in upper case names the same object', async () => {
    const { id = '' } = await owned.own();
    expect((await api.call('GET', `${ENDPOINTS}/${id.toUpperCase()}`)).body.uuid).toBe(id);
  });

  test('a revoked key is refused from the next request on', async () => {
    const other = await start({});
    try {
      expect((await other.call('GET', ENDPOINTS)).status).toBe(200);
      await other.store.keys.revoke(other.keyIds.own, other.clock.now());
      expect((await other.call('GET', ENDPOINTS)).body.code).toBe('api_key_invalid');
    } finally {
      await other.close();
    }
  });

  test.each(['Bearer x', 'API-Key', 'API-Key a b', 'Basic eDp5'])(
    'an Authorization header "%s" is malformed',
    async (authorization) => {
      const answer = await api.call('GET', ENDPOINTS, { key: null, headers: { authorization } });
      expect([answer.status, answer.body.code]).toEqual([401, 'api_key_malformed']);
    },
  );

  test('the scheme of the Authorization header is read without regard to case', async () => {
    const authorization = `api-key ${api.keys.own}`;
    expect((await api.call('GET', ENDPOINTS, { key: null, headers: { authorization } })).status).toBe(200);
  });
}
