/**
 * Guarantee: the connections that endpoints need which do not answer are opened one per turn of the event loop, so that
 * no other delivery waits for more than one; those of other endpoints are opened at once.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { OK, openEngine, publish, seen, start, taskOf, tempDir } from './sender-bench.ts';

const ENDPOINTS = 12;
const OPTIONS = { options: { inFlightMax: 1024 } };

/** Watches a counter in every turn of the event loop. Returns how to end that; it tells by how much it grew per turn. */
function watchTurns(count: () => number): () => number[] {
  const growth: number[] = [];
  let isOver = false;
  let before = count();
  const look = () => {
    const now = count();
    growth.push(now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return growth;
  };
}

/** There are too many turns for the arguments of one call. */
const most = (growth: readonly number[]) => growth.reduce((one, other) => Math.max(one, other));

test('endpoints that hang get their connections one per turn', async () => {
  const broker = await openEngine(tempDir());
  const { receiver, sender, transport, addEndpoint } = await start(broker, () => {}, OPTIONS);
  const ids = Array.from({ length: ENDPOINTS }, () => randomUUID());
  for (const [i, id] of ids.entries()) addEndpoint(id, `/${i}`);
  const oneEach = () => ids.map((endpointId) => taskOf({ trigger: 'live', endpointId }));
  await publish(broker, oneEach());
  await eventually('all have turned slow', () => sender.inFlight().slow === ENDPOINTS);
  const end = watchTurns(() => transport.connectionsOpened);
  await publish(broker, [...oneEach(), ...oneEach()]);
  await eventually('all have arrived', () => seen(receiver.received).length === 3 * ENDPOINTS, 20_000);
  expect(most(end())).toBe(1);
  await sender.stop(400);
}, 40_000);

test('endpoints that are new get their connections all at once', async () => {
  const broker = await openEngine(tempDir());
  const answer = (socket: { write(text: string): unknown }) => void socket.write(OK);
  const { receiver, transport, addEndpoint } = await start(broker, answer, OPTIONS);
  const ids = Array.from({ length: ENDPOINTS }, () => randomUUID());
  for (const [i, id] of ids.entries()) addEndpoint(id, `/${i}`);
  const end = watchTurns(() => transport.connectionsOpened);
  await publish(
    broker,
    ids.map((endpointId) => taskOf({ trigger: 'live', endpointId })),
  );
  await eventually('all have arrived', () => seen(receiver.received).length === ENDPOINTS);
  expect(most(end())).toBe(ENDPOINTS);
});
