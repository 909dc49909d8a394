import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import type { KafkaForTests } from '../kafka/address.ts';
import type { FleetProcess } from '../kafka/fleet.ts';

/** Metrics that tell of work that is not done, and of records that never will be. */
const TELLING =
  /^hookrail_(backlog|lag|oldest|overdue|in_flight|partition|quarantined|commit|offsets|events)[a-z_]*(\{|\s)/;
const ANSWER_MS_MAX = 5000;
/** A topic of a trial is read within this. */
const READ_MS = 10_000;

/** What each process says of itself: a line of readiness, and its metrics above 0 that tell of work not done. */
export async function whereItWaits(processes: readonly FleetProcess[]): Promise<string> {
  const told = await Promise.all(
    processes.map(async ({ name, service: { operationsUrl } }) => {
      const ask = async (path: string) => {
        const answer = await fetch(operationsUrl + path, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
        return `${answer.status} ${await answer.text()}`;
      };
      const [ready, metrics] = await Promise.all(
        ['/readyz', '/metrics'].map((path) => ask(path).catch((error: unknown) => String(error))),
      );
      const telling = metrics?.split('\n').filter((line) => TELLING.test(line) && !/ 0$/.test(line)) ?? [];
      return [`${name}: ${ready}`, ...telling.map((line) => `  ${line}`)];
    }),
  );
  return told.flat().join('\n');
}

/** Where committed records of these events are in the topic, a line for each event, as kafkajs reads it by itself. */
export async function placesOf(
  eventIds: ReadonlySet<string>,
  { brokers }: KafkaForTests,
  topic: string,
): Promise<string[]> {
  const places = new Map([...eventIds].map((id) => [id, [] as string[]]));
  const consumer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).consumer({ groupId: randomUUID() });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ partition, message: { offset, timestamp, value } }) => {
      for (const [id, found] of places)
        if (value?.includes(id)) found.push(`${partition}@${offset}, appended at ${timestamp}`);
    },
  });
  await sleep(READ_MS);
  await consumer.disconnect();
  return [...places].map(([id, found]) => `event ${id} in the topic: ${found.join('; ') || 'nowhere'}`);
}
