/**
 * Guarantee: the management of endpoints behaves like a model of one page, under any requests of two merchants in any
 * order, and through crashes. After every step the service has exactly the endpoints of the model. It is killed with
 * SIGKILL between and during steps: then a change is complete or absent, and the same request again makes it once.
 * LONG_RUN=1 makes more runs, MODEL_SEED repeats a run that failed.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IS_LONG_RUN, seedOf, sizeOf } from '../support/long-runs.ts';
import { ModelMerchant, QUOTA } from '../support/models/management-model.ts';
import type { Wish } from '../support/models/management-wishes.ts';
import type { Answer } from '../support/service/merchant-client.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { anotherMerchant } from '../support/service/merchants.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const RUNS = sizeOf('MODEL_RUNS');
const SEED = seedOf('MODEL_SEED');
const COMMANDS_MAX = 60;
const START_MS_MAX = 120_000;
/** No run but the first is begun after this. */
const BEGIN_MS = IS_LONG_RUN ? Number.POSITIVE_INFINITY : 40_000;

let setup: ServiceSetup;
let service: Service;
let merchants: readonly [ModelMerchant, ModelMerchant];
const counts = { steps: 0, kills: 0, midway: 0, lost: 0 };

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_ENDPOINT_QUOTA: `${QUOTA}` });
  const other = await anotherMerchant(setup, 'The other one');
  service = await startService(setup.environment);
  merchants = [
    new ModelMerchant('one', new MerchantClient(setup, () => service)),
    new ModelMerchant('other', new MerchantClient(other, () => service)),
  ];
}, START_MS_MAX);

afterAll(async () => {
  await service?.end('SIGKILL');
  rmSync(setup.dataDir, { recursive: true, force: true });
});

async function killAndStart(): Promise<void> {
  await service.end('SIGKILL');
  service = await startService(setup.environment);
  counts.kills += 1;
}

async function bothAgree(): Promise<void> {
  const [one, other] = merchants;
  await one.agrees(other);
  await other.agrees(one);
}

type Model = readonly [ModelMerchant, ModelMerchant];
type Command = fc.AsyncCommand<Model, Model>;

/** One request, answered. */
class Ask implements Command {
  readonly #who: 0 | 1;
  readonly #wish: Wish;

  constructor(who: 0 | 1, wish: Wish) {
    this.#who = who;
    this.#wish = wish;
  }

  check = () => true;
  toString = () => `${this.#who}: ${JSON.stringify(this.#wish)}`;

  async run(_model: Model, real: Model): Promise<void> {
    counts.steps += 1;
    const merchant = real[this.#who];
    const sent = merchant.sent(this.#wish);
    merchant.accept(sent, await merchant.send(sent));
    await bothAgree();
  }
}

/** One request, and a kill so many milliseconds after it went out. */
class AskAndKill implements Command {
  readonly #who: 0 | 1;
  readonly #wish: Wish;
  readonly #afterMs: number;

  constructor(who: 0 | 1, wish: Wish, afterMs: number) {
    this.#who = who;
    this.#wish = wish;
    this.#afterMs = afterMs;
  }

  check = () => true;
  toString = () => `${this.#who}: ${JSON.stringify(this.#wish)}, killed after ${this.#afterMs} ms`;

  async run(_model: Model, real: Model): Promise<void> {
    counts.steps += 1;
    counts.midway += 1;
    const merchant = real[this.#who];
    const sent = merchant.sent(this.#wish);
    const before = merchant.modelState;
    const answering: Promise<Answer | null> = merchant.send(sent).catch(() => null);
    await sleep(this.#afterMs);
    await killAndStart();
    const answer = await answering;
    if (answer !== null) {
      merchant.accept(sent, answer);
      return bothAgree();
    }
    counts.lost += 1;
    const isUntouched = (await merchant.state()) === before;
    // Nobody knows whether it was done. The same request brings it about, or says that it was.
    const again = await merchant.send(sent);
    if (this.#wish.kind === 'delete' && !isUntouched) expect(again.status).toBe(404);
    else expect([again.status, again.body?.code]).toEqual([sent.expected.status, sent.expected.code]);
    const isKeyed = 'idempotency-key' in sent.headers && again.status < 300;
    if (isKeyed) expect(again.headers.get('idempotent-replayed') === 'true').toBe(!isUntouched);
    sent.expected.apply?.(again.body, !isUntouched);
    await bothAgree();
  }
}

const url = fc.constantFrom(...[1, 2, 3, 4, 5].map((n) => `https://hooks.merchant.com/${n}`));
const filter = fc.constantFrom(null, ['KYC'], ['fiatToCrypto', 'KYC']);
const description = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '');
const limit = fc.constantFrom(null, 1, 1000);
const target = fc.nat({ max: 9 });
const optional = { requiredKeys: [] as [] };

const create = fc.record(
  {
    url,
    description,
    subscribed_events: filter.filter((types) => types !== null),
    api_version: fc.constantFrom('2.2.8', '2.3.8'),
    public_key_signature: fc.boolean(),
    requests_per_second: limit,
  },
  { requiredKeys: ['url', 'description'] },
);
const patch = fc
  .record(
    {
      ...{ url, description, subscribed_events: filter, public_key_signature: fc.boolean() },
      requests_per_second: limit,
      status: fc.constantFrom('active', 'disabled'),
    },
    optional,
  )
  .filter((json) => Object.keys(json).length > 0);
const single = fc.oneof(
  fc.record(
    { webhook_url: url, webhook_secret: fc.constantFrom('chosen-secret-1st', 'chosen-secret-2nd') },
    optional,
  ),
  fc.constantFrom({ webhook_url: null }, { webhook_secret: null }),
);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 4, arbitrary: create.map((json) => ({ kind: 'create' as const, json })) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('patch' as const), target, json: patch }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rotate' as const), target }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('prepare' as const), target }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('discard' as const), target }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), target }) },
  {
    weight: 2,
    arbitrary: single
      .filter((json) => Object.keys(json).length > 0)
      .map((json) => ({ kind: 'single' as const, json })),
  },
);
const who = fc.constantFrom(0 as const, 1 as const);
const ask = fc.tuple(who, wish).map((parts) => new Ask(...parts));
const askAndKill = fc.tuple(who, wish, fc.nat({ max: 12 })).map((parts) => new AskAndKill(...parts));

it(`the service agrees with the model after every step (seed ${SEED})`, { timeout: 600_000 }, async () => {
  // Weights by repetition: a kill takes as long as hundreds of requests.
  const commands = fc.commands([...Array.from({ length: 11 }, () => ask), askAndKill], {
    maxCommands: COMMANDS_MAX,
    size: 'max',
  });
  const startedAt = performance.now();
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      if (counts.steps > 0 && performance.now() - startedAt > BEGIN_MS) return;
      for (const merchant of merchants) await merchant.clear();
      await fc.asyncModelRun(() => ({ model: merchants, real: merchants }), steps);
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: true },
  );
  const { steps, kills, midway, lost } = counts;
  console.log(`model: seed ${SEED}, ${steps} steps, ${kills} kills, ${lost} of ${midway} answers lost`);
  expect(steps).toBeGreaterThan(10);
});
