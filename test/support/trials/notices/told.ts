/** Compares the notices in the receiver's own log with the expected ones. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../../eventually.ts';
import type { Arrival } from '../../receivers/logging-receiver.ts';
import { type Causes, HAPPENS_MS_MAX, type Watched } from './causes.ts';

/** An unexpected notice would have arrived by then: the notifier has looked several times. */
const NOTHING_COMES_MS = 3000;

interface ToldNotice {
  readonly id: string;
  readonly type: string;
  /** As in `Causes.lines`. */
  readonly line: string;
  readonly endpointId: string;
  /** 1 where nothing is gathered. */
  readonly count: number;
}

/** Returns each notice that arrived at a path and was answered 2xx, once. Expects repeats to be the same webhook. */
function toldAt({ receiver }: Pick<Causes, 'receiver'>, path: string): readonly ToldNotice[] {
  const byId = new Map<string, Arrival[]>();
  for (const arrival of receiver.arrivals)
    if (arrival.path === path) byId.set(arrival.eventId, [...(byId.get(arrival.eventId) ?? []), arrival]);
  return [...byId].flatMap(([id, arrivals]) => {
    const webhooks = arrivals.map(({ deliveryId, body }) => `${deliveryId} ${body}`);
    expect([...new Set(webhooks)], `what came as ${id}`).toHaveLength(1);
    const good = arrivals.find(({ status }) => status === 200);
    return good ? [toldBy(good)] : [];
  });
}

function toldBy({ eventId: id, body }: Arrival): ToldNotice {
  const { type, subType, data } = JSON.parse(body.toString('utf8'));
  const about = data.url === undefined ? [] : [new URL(data.url).pathname];
  const line = [type, subType, ...about, ...(data.secretHint === undefined ? [] : [data.secretHint])];
  return { id, type, line: line.join(' '), endpointId: data.endpointUuid, count: data.count ?? 1 };
}

interface Expected {
  /** The operational endpoint that gets every type, and the one that gets the types of `some`. */
  readonly all: Watched;
  readonly some: Watched;
  readonly types: readonly string[];
  /** Endpoints with exhausted deliveries. */
  readonly exhausting: readonly Watched[];
}

/** Expects that each cause was told once at each endpoint that asks for it, and nothing else. */
export async function expectEachToldOnce(causes: Causes, of: Expected): Promise<readonly ToldNotice[]> {
  const { all, some, types, exhausting } = of;
  const gathered = await Promise.all(exhausting.map((each) => exhaustedOf(causes, each)));
  const single = () => toldAt(causes, all.path).filter(({ type }) => type !== 'delivery.exhausted');
  const counted = () => exhausting.map(({ uuid }) => countAbout(toldAt(causes, all.path), uuid));
  const wanted = causes.lines.filter((line) => types.some((type) => line.startsWith(`${type} `))).sort();
  const isComplete = () =>
    single().length >= causes.lines.length &&
    toldAt(causes, some.path).length >= wanted.length &&
    counted().every((count, index) => count >= (gathered[index] ?? 0));
  await eventually('every cause is told', isComplete, HAPPENS_MS_MAX).catch(() => undefined);
  await sleep(NOTHING_COMES_MS);
  expect(
    single()
      .map(({ line }) => line)
      .sort(),
  ).toEqual([...causes.lines].sort());
  expect(
    toldAt(causes, some.path)
      .map(({ line }) => line)
      .sort(),
  ).toEqual(wanted);
  expect(counted()).toEqual(gathered);
  const told = toldAt(causes, all.path);
  const others = told.filter(
    ({ type, endpointId }) =>
      type === 'delivery.exhausted' && !exhausting.some(({ uuid }) => uuid === endpointId),
  );
  expect(others).toEqual([]);
  return told;
}

const countAbout = (told: readonly ToldNotice[], uuid: string) =>
  told
    .filter(({ type, endpointId }) => type === 'delivery.exhausted' && endpointId === uuid)
    .reduce((sum, { count }) => sum + count, 0);

/** Returns the number of an endpoint's deliveries whose attempts all failed, by the delivery log. */
async function exhaustedOf({ merchant }: Causes, { uuid }: Watched): Promise<number> {
  for (let count = 0, cursor = ''; ; ) {
    const path = `/merchant/webhook-endpoints/${uuid}/deliveries?status=exhausted&limit=100${cursor}`;
    const { status, body } = await merchant.request('GET', path);
    expect(status).toBe(200);
    count += body.data.length;
    if (!body.has_more) return count;
    cursor = `&cursor=${body.next_cursor}`;
  }
}
