/**
 * Guarantee: the sequences of the embedded engine rise through restarts when the system's clock was set back, and when
 * its file's ring of commits was emptied.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { eventually } from '../../support/eventually.ts';
import { movableClock } from '../../support/movable-clock.ts';
import { anEvent, routed } from '../../support/records/broker-records.ts';

const HOUR_MS = 3_600_000;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-broker-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Opens the file with a clock that is so far ahead, publishes an event, and returns what the router got, as it was routed or read back. */
async function publishedAt(
  aheadMs: number,
  { isStreamed, isPurged = false }: { readonly isStreamed: boolean; readonly isPurged?: boolean },
) {
  const clock = movableClock();
  clock.setWall(aheadMs);
  const broker = await openSqliteBroker({ file: join(folder, 'broker.db'), clock, retryScale: 1_000 });
  const seen: DomainEvent[] = [];
  const consume = () =>
    broker.events.consume(
      (input) => {
        if (input.decoded.ok) seen.push(input.decoded.event);
        return { kind: 'routed', tasks: [], journal: routed(seen.at(-1) ?? anEvent()) };
      },
      { inFlightMax: 10, inline: { isPure: true } },
    );
  const event = anEvent();
  // Without a router the event goes to its stream.
  if (!isStreamed) await consume();
  await broker.publishEvents([event]);
  if (isStreamed) await consume();
  await eventually('the event', () => seen.some(({ eventId }) => eventId === event.eventId));
  if (isPurged) await broker.remnants.purge();
  await broker.close();
  return seen.find(({ eventId }) => eventId === event.eventId)?.sequence ?? 0;
}

it.each([
  ['routed at once', false],
  ['that wait in the stream', true],
])(
  'events %s have a higher sequence than those before, though the clock was set back',
  async (_, isStreamed) => {
    const now = Date.now();
    const first = await publishedAt(0, { isStreamed });
    expect(first / 1000).toBeGreaterThan(now - 1000);
    const second = await publishedAt(-HOUR_MS, { isStreamed, isPurged: true });
    expect(second).toBe(first + 1);
    const third = await publishedAt(-2 * HOUR_MS, { isStreamed });
    expect(third).toBe(second + 1);
    expect((await publishedAt(HOUR_MS, { isStreamed })) / 1000).toBeGreaterThan(now + HOUR_MS - 1000);
  },
);
