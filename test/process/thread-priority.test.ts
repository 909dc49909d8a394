/**
 * Guarantee: the threads that deliver and commit go before those that nobody waits for: V8's own, and the writer of the
 * delivery log.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { BEHIND } from '../../services/process/thread-priority.ts';
import { prepareSetup, startService } from '../support/service/system.ts';

/** Returns the nice values of a process's threads, by their names. */
function prioritiesOf(pid: number): Readonly<Record<string, readonly number[]>> {
  const found: Record<string, number[]> = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(stat) ?? [];
    found[name] = [...(found[name] ?? []), Number(rest.split(' ')[16])].sort((one, other) => one - other);
  }
  return found;
}

it.runIf(process.platform === 'linux')('a service has threads of two priorities', async () => {
  const setup = await prepareSetup();
  const service = await startService(setup.environment);
  onTestFinished(async () => {
    await service.end('SIGTERM');
    rmSync(setup.dataDir, { recursive: true, force: true });
  });
  const { MainThread, V8Worker, WorkerThread } = prioritiesOf(service.process.pid ?? 0);
  expect(MainThread).toEqual([0]);
  expect(new Set(V8Worker)).toEqual(new Set([BEHIND]));
  // The broker's file, the watchdog and the store's reader, which looks up keys; the writer of the delivery log.
  expect(WorkerThread).toEqual([0, 0, 0, BEHIND]);
});
