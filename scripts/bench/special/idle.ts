/** The cost of an idle service: CPU of each process without traffic, and its requests to the brokers. */
import type { RunOptions } from '../engine.ts';
import { requestRates } from '../kafka/kafka-requests.ts';
import { sleep } from '../load.ts';
import { cpuMsOfTree, wallClock } from '../measure.ts';
import { nameOf } from '../report/names.ts';
import { startService } from '../service.ts';

/** The time after which all processes have finished starting. */
const SETTLE_MS = 15_000;
/** Each role in its own process. */
const KAFKA_PROCESSES = ['api,recorder', 'router', 'sender'];

export interface IdleResult {
  readonly engine: string;
  readonly brokers: number;
  readonly processes: readonly IdleProcess[];
}

interface IdleProcess {
  readonly roles: string;
  /** Percent of one core. */
  readonly cpuPercent: number;
  /** Requests to the brokers per second. */
  readonly requests: number;
  readonly byName: Readonly<Record<string, number>>;
}

export async function measureIdle(options: RunOptions & { readonly seconds: number }): Promise<IdleResult> {
  const { engine, ca, seconds } = options;
  const { kafka } = engine;
  const idle = { ...engine, processes: kafka ? KAFKA_PROCESSES : engine.processes };
  const service = await startService({ engine: idle, ca, merchants: 1 });
  try {
    await Promise.race([sleep(SETTLE_MS), service.failed]);
    const look = () =>
      service.pids.map((pid) => ({
        at: wallClock(),
        cpuMs: cpuMsOfTree(pid),
        requests: kafka?.requestsOf(pid) ?? {},
      }));
    const before = look();
    await Promise.race([sleep(seconds * 1000), service.failed]);
    const after = look();
    const processes = idle.processes.map((roles, index) => {
      const [from, to] = [before[index], after[index]];
      if (!from || !to) throw new Error(`there is no process with the roles ${roles}`);
      const ms = to.at - from.at;
      const { all, byName } = requestRates(from.requests, to.requests, ms / 1000);
      return { roles, cpuPercent: ((to.cpuMs - from.cpuMs) / ms) * 100, requests: all, byName };
    });
    return { engine: engine.name, brokers: engine.brokerPids().length, processes };
  } finally {
    await service.stop();
  }
}

export function idleText({ engine, brokers, processes }: IdleResult): string {
  const lines = processes.map(({ roles, cpuPercent, requests, byName }) => {
    const names = Object.entries(byName)
      .sort(([, one], [, other]) => other - one)
      .map(([name, rate]) => `${name} ${rate.toFixed(1)}`);
    const rates = names.length === 0 ? '' : `, ${requests.toFixed(1)} requests/s (${names.join(', ')})`;
    return `  ${roles}: ${cpuPercent.toFixed(1)} % of a core${rates}`;
  });
  return [`${nameOf(engine, brokers)}, idle:`, ...lines].join('\n');
}
