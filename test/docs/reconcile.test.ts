/**
 * The reconcile examples of docs/receivers are run unchanged: each prints the events that were sent and not received,
 * from where it was the last time, and tells a gap. A language whose runtime is not on this machine is skipped.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DomainEvent } from '../../services/domain/event.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { isInstalled } from '../support/receivers/documented-receivers.ts';
import {
  RECONCILER_RUNTIMES,
  RECONCILERS,
  type ReconcilerPlace,
  reconcilerPlace,
  stateOf,
} from '../support/receivers/documented-reconcilers.ts';
import { eventNumber, HOUR_MS, journalOf, routed, START } from '../support/records/journal-entries.ts';

/** More than a page. */
const EVENTS = 620;
const RUN_MAX_MS = 120_000;

let api: TestApi;
let apply: ReturnType<typeof journalOf>;
let place: ReconcilerPlace | undefined;
beforeEach(async () => {
  api = await startTestApi();
  apply = journalOf(api.store);
});
afterEach(async () => {
  await api.close();
  if (place) rmSync(place.scratch, { recursive: true });
  place = undefined;
});

const installed = RECONCILER_RUNTIMES.filter(({ probe }) => isInstalled(probe));
describe.each(installed)('the $name example', { timeout: RUN_MAX_MS }, (runtime) => {
  test('prints what was sent and not received, page by page and run by run', async () => {
    const at = reconcilerPlace(runtime);
    place = at;
    const run = async (received: readonly DomainEvent[]) => {
      writeFileSync(at.received, `${received.map(({ eventId }) => eventId).join('\n')}\n`);
      const [command, ...args] = runtime.command(at.scratch);
      const environment = {
        ...process.env,
        HOOKRAIL_BASE_URL: api.api.url,
        HOOKRAIL_API_KEY: api.keys.own,
        RECONCILE_STATE: at.state,
      };
      const options = { cwd: RECONCILERS, env: environment };
      const { stdout } = await promisify(execFile)(command, [...args, at.received], options);
      return stdout.split('\n').filter(Boolean);
    };
    const lines = (events: readonly DomainEvent[]) => events.map(({ eventId }) => `missing ${eventId}`);
    expect(await run([])).toEqual([]);
    const endpointId = randomUUID();
    const events = Array.from({ length: EVENTS }, (_, n) => eventNumber(api.merchantId, n));
    const unsent = eventNumber(api.merchantId, EVENTS);
    await apply(...events.map((event) => routed(event, [endpointId])), routed(unsent, [], [endpointId]));
    const missed = [events[3], events[610]] as DomainEvent[];
    const received = events.filter((event) => !missed.includes(event));
    expect(await run(received)).toEqual(lines(missed));
    expect(stateOf(at).missing).toEqual(missed.map(({ eventId }) => eventId));
    // One has arrived meanwhile, and there is one more that has not.
    const next = eventNumber(api.merchantId, EVENTS + 1);
    await apply(routed(next, [endpointId]));
    const [first, second] = missed as [DomainEvent, DomainEvent];
    expect(await run([...received, first])).toEqual(lines([second, next]));
    expect(await run([...received, first, second, next])).toEqual([]);
    await apply(
      routed(eventNumber(api.merchantId, EVENTS + 2), []),
      routed(eventNumber(api.merchantId, EVENTS + 9), []),
    );
    while ((await api.store.feed.retain(START + (EVENTS + 5) * HOUR_MS, 10_000)) > 0);
    expect(await run([...received, first, second, next])).toEqual(['gap retention']);
  });

  test('ends with an error where its key is refused', async () => {
    const at = reconcilerPlace(runtime);
    place = at;
    const [command, ...args] = runtime.command(at.scratch);
    const environment = {
      ...process.env,
      HOOKRAIL_BASE_URL: api.api.url,
      HOOKRAIL_API_KEY: api.keys.revoked,
      RECONCILE_STATE: at.state,
    };
    const run = promisify(execFile)(command, [...args, at.received], { cwd: RECONCILERS, env: environment });
    await expect(run).rejects.toThrow(/401|api_key_invalid/);
  });
});
