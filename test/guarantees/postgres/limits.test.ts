/**
 * Guarantee: two apis on one PostgreSQL count the requests of a key together. Of more requests than a limit allows, sent to
 * both at the same time, exactly the allowed ones succeed, and each response says how many are left over both.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { type Answer, MerchantClient } from '../../support/service/merchant-client.ts';
import { toolAnswer } from '../../support/service/operator-tool.ts';
import { startTwoApis, type TwoApis, type TwoApisOptions } from '../../support/service/two-apis.ts';

const START_MS = 240_000;
const TIMEOUT_MS = 120_000;
const ENDPOINTS = '/merchant/webhook-endpoints';
const LIMIT = 40;
const TEST_LIMIT = 7;
/** Requests sent at the same time, more than any limit. */
const SENT = 60;

await describeWithKafka('two apis with Kafka', (kafka) =>
  describeWithPostgres('on one PostgreSQL', (createDatabase) => suite({ kafka, createDatabase })),
);

function suite(place: Pick<TwoApisOptions, 'kafka' | 'createDatabase'>): void {
  let apis: TwoApis;
  beforeAll(async () => {
    const environment = {
      HOOKRAIL_RATE_LIMIT_PER_MINUTE: `${LIMIT}`,
      HOOKRAIL_TEST_RATE_LIMIT_PER_MINUTE: `${TEST_LIMIT}`,
    };
    apis = await startTwoApis({ ...place, environment, delivers: false });
  }, START_MS);
  afterAll(() => apis?.dispose());

  /** A client of the balancer with a key that has made no request yet. */
  async function newClient(): Promise<MerchantClient> {
    const { setup, fleet, balancer } = apis;
    const { key } = await toolAnswer(fleet.environment, 'keys', 'create', '--merchant', setup.merchantId);
    return new MerchantClient({ ...setup, apiKey: key }, () => balancer);
  }

  it('allow exactly the requests of the rate limit', { timeout: TIMEOUT_MS }, async () => {
    const client = await newClient();
    const answers = await Promise.all(Array.from({ length: SENT }, () => client.request('GET', ENDPOINTS)));
    const allowed = answers.filter(({ status }) => status === 200);
    expect(leftOf(allowed, 'requests')).toEqual(Array.from({ length: LIMIT }, (_, n) => n));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.map(({ body }) => body.code)).toEqual(Array(SENT - LIMIT).fill('rate_limited'));
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    // Another key has requests of its own.
    expect((await (await newClient()).request('GET', ENDPOINTS)).status).toBe(200);
  });

  it('allow exactly the test webhooks of their limit', { timeout: TIMEOUT_MS }, async () => {
    const { uuid } = await (await newClient()).createEndpoint('https://127.0.0.1:9/tests');
    const client = await newClient();
    const body = { type: 'KYC', subType: 'FULL_USER', user_uuid: crypto.randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: LIMIT }, () => client.request('POST', `${ENDPOINTS}/${uuid}/test`, body)),
    );
    const allowed = answers.filter(({ status }) => status === 202);
    expect(leftOf(allowed, 'tests')).toEqual(Array.from({ length: TEST_LIMIT }, (_, n) => n));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(LIMIT - TEST_LIMIT);
  });
}

/** Returns how many requests each response says are left, in ascending order. */
function leftOf(answers: readonly Answer[], limit: string): number[] {
  return answers
    .map(({ headers }) => {
      const [, left] = new RegExp(`"${limit}"; r=(\\d+)`).exec(headers.get('ratelimit') ?? '') ?? [];
      return Number(left);
    })
    .sort((one, other) => one - other);
}
