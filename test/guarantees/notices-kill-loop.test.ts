/**
 * Guarantee: each cause sends one operational notice, whenever the process is killed. The service is killed with SIGKILL
 * again and again while secrets are rotated and endpoints fail, are disabled and recover. The causes that the api shows are
 * compared with the notices that arrived: none is lost, sent twice or invented; a `webhook-id` that comes again is the same
 * webhook. The long form: LONG_RUN=1.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Chance } from '../../services/samples/chance.ts';
import { seedOf, sizeOf } from '../support/long-runs.ts';
import { clockOf, moveClock } from '../support/service/move-clock.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';
import { Causes } from '../support/trials/notices/causes.ts';
import { killWhileCausing, NOTICE_LOOP_ENVIRONMENT } from '../support/trials/notices/kill-loop.ts';
import { expectEachToldOnce } from '../support/trials/notices/told.ts';

const SEED = seedOf('NOTICE_LOOP_SEED');
const KILLS = sizeOf('NOTICE_LOOP_KILLS');
const START_MS = 120_000;
const HOUR_MS = 3_600_000;
/** The types of the second operational endpoint. */
const TYPES = ['endpoint.disabled', 'endpoint.recovered'];

let setup: ServiceSetup;
beforeAll(async () => {
  setup = await prepareSetup(NOTICE_LOOP_ENVIRONMENT);
}, START_MS);
afterAll(() => {
  if (setup) rmSync(setup.dataDir, { recursive: true, force: true });
});

/** Runs one after the other what must not meet: a kill, and a move of the clock. */
function inTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

it(`sends one notice for each cause over ${KILLS} kills (seed ${SEED})`, {
  timeout: 300_000 + KILLS * 60_000,
}, async () => {
  const { dataDir } = setup;
  const chance = new Chance('notice loop', `${SEED}`);
  let service: Service = await startService(setup.environment);
  const causes = await Causes.start({
    setup,
    service: () => service,
    random: () => chance.below(1000) / 1000,
  });
  try {
    const all = await causes.endpoint('ops', { kind: 'operational' });
    const some = await causes.endpoint('ops-some', { kind: 'operational', subscribed_events: TYPES });
    const exhausting = [await causes.endpoint('dips'), await causes.endpoint('ends')];
    const [dips, ends] = exhausting as [(typeof exhausting)[0], (typeof exhausting)[0]];
    const alone = inTurns();
    const moveTo = (at: number) => alone(() => moveClock({ service, dataDir }, at));
    const now = () => alone(() => clockOf({ service, dataDir }));
    await killWhileCausing({
      ...{ causes, chance, kills: KILLS },
      kill: () =>
        alone(async () => {
          expect(await service.end('SIGKILL')).toBeNull();
          service = await startService(setup.environment);
        }),
      beside: async () => {
        const from = await now();
        await causes.fail(dips, ends, (hours) => moveTo(from + hours * HOUR_MS));
      },
    });
    // A gathered notice is sent when its quarter of an hour is over.
    await moveTo((await now()) + HOUR_MS);
    const told = await expectEachToldOnce(causes, { all, some, types: TYPES, exhausting });
    expect(new Set(told.map(({ type }) => type)).size).toBe(5);
    const gathered = told.filter(({ type }) => type === 'delivery.exhausted').length;
    console.log(
      `notice loop: seed ${SEED}, ${KILLS} kills, ${causes.lines.length} causes told once, ${gathered} notices of exhausted deliveries`,
    );
    expect(await service.end('SIGTERM')).toBe(0);
  } finally {
    await service.end('SIGKILL');
    await causes.receiver.close();
  }
});
