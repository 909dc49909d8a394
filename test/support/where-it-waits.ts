import type { FleetProcess } from './kafka-fleet.ts';

/** Metrics that tell of work that is not done, and of records that never will be. */
const TELLING =
  /^hookrail_(backlog|lag|oldest|overdue|in_flight|partition|quarantined|commit|offsets|events)[a-z_]*(\{|\s)/;
const ANSWER_MS_MAX = 5000;

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
