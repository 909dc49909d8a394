import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Service } from './system.ts';

/** A service of a sandbox on SQLite, whose clock can be moved on. */
interface Movable {
  readonly service: Pick<Service, 'operationsUrl'>;
  readonly dataDir: string;
}

/** Returns the time of a sandbox's clock, milliseconds since the epoch. */
export async function clockOf(movable: Movable): Promise<number> {
  return Date.parse(await asked(movable, 'clock-show', {}));
}

/** Moves a sandbox's clock to a time, milliseconds since the epoch, through all that is due before. */
export async function moveClock(movable: Movable, to: number): Promise<void> {
  const until = new Date(to).toISOString();
  while ((await asked(movable, 'clock-step', { until })) < until);
}

/** Returns what the clock shows after a command. */
async function asked({ service, dataDir }: Movable, command: string, given: object): Promise<string> {
  const token = readFileSync(join(dataDir, 'operator.token'), 'utf8').trim();
  const response = await fetch(`${service.operationsUrl}/operator/${command}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'hookrail-operator': 'Ann',
    },
    body: JSON.stringify(given),
  });
  const answer = (await response.json()) as { readonly result?: { readonly now?: string } };
  expect([response.status, answer]).toMatchObject([200, { result: { now: expect.any(String) } }]);
  return answer.result?.now ?? '';
}
