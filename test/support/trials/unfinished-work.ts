import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import type { KafkaForTests } from '../kafka/address.ts';
import type { FleetProcess } from '../kafka/fleet.ts';

/** Metrics of unfinished work, and of records that will never be processed. */
const WORK_METRICS =
  /^hookrail_(backlog|lag|oldest|overdue|in_flight|partition|quarantined|commit|offsets|events)[a-z_]*(\{|\s)/;
const RESPONSE_MS_MAX = 5000;
/** Enough time to read a whole topic of a trial. */
const READ_MS = 10_000;

/** Returns for each process its readiness and its metrics of unfinished work that are above 0, one line each. */
export async function unfinishedWork(processes: readonly FleetProcess[]): Promise<string> {
  const reports = await Promise.all(
    processes.map(async ({ name, service: { operationsUrl } }) => {
      const read = async (path: string) => {
        const response = await fetch(operationsUrl + path, { signal: AbortSignal.timeout(RESPONSE_MS_MAX) });
        return `${response.status} ${await response.text()}`;
      };
      const [ready, metrics] = await Promise.all(
        ['/readyz', '/metrics'].map((path) => read(path).catch((error: unknown) => String(error))),
      );
      const work = metrics?.split('\n').filter((line) => WORK_METRICS.test(line) && !/ 0$/.test(line)) ?? [];
      return [`${name}: ${ready}`, ...work.map((line) => `  ${line}`)];
    }),
  );
  return reports.flat().join('\n');
}

/** Returns the positions of these events' committed records in the topic, one line per event, as read by plain kafkajs. */
export async function recordPositions(
  eventIds: ReadonlySet<string>,
  { brokers }: KafkaForTests,
  topic: string,
): Promise<string[]> {
  const positions = new Map([...eventIds].map((id) => [id, [] as string[]]));
  const consumer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).consumer({ groupId: randomUUID() });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ partition, message: { offset, timestamp, value } }) => {
      for (const [id, found] of positions)
        if (value?.includes(id)) found.push(`${partition}@${offset}, appended at ${timestamp}`);
    },
  });
  await sleep(READ_MS);
  await consumer.disconnect();
  return [...positions].map(([id, found]) => `event ${id} in the topic: ${found.join('; ') || 'nowhere'}`);
}
