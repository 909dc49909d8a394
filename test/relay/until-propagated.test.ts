/** Guarantee: no event is routed before the merchants of a large store are known, however long their publication takes. */
import { expect, test } from 'vitest';
import { Directory, type DirectoryChange } from '../../services/domain/directory.ts';
import { untilPropagated } from '../../services/relay/reconcile.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const CHANGES = 20;
const changes = Array.from(
  { length: CHANGES },
  (_, index): DirectoryChange => ({ kind: 'merchant', id: `merchant-${index}`, version: 1, value: null }),
);

/** Waits, while the first `arriving` changes come back one by one; returns what had come back by then, and the log. */
async function waited(arriving: number, everyMs: number) {
  const clock = new SimulatedClock();
  const directory = new Directory();
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  let back = 0;
  let hasEnded = false;
  const waiting = untilPropagated(changes, { directory, clock, log }).then(() => {
    hasEnded = true;
    return back;
  });
  while (!hasEnded) {
    await clock.advance(everyMs);
    const change = changes[back];
    if (!change || back >= arriving) continue;
    directory.apply(change);
    back += 1;
  }
  return { back: await waiting, keys: lines.map(({ keys }) => keys) };
}

test('the start waits for the last change, as long as changes come back', async () => {
  expect(await waited(CHANGES, 10_000)).toEqual({ back: CHANGES, keys: [] });
});

test('the start goes on when no change comes back any more, and says how many are missing', async () => {
  expect(await waited(5, 1000)).toEqual({ back: 5, keys: [CHANGES - 5] });
});
