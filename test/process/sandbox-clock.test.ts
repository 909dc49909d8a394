/** The clock of a sandbox: only its wall time moves, and the system's time can be told from it for every moment. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SandboxClock } from '../../services/process/sandbox-clock.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const HOUR_MS = 3_600_000;
let folder: string;
let base: SimulatedClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-sandbox-clock-'));
  base = new SimulatedClock();
});

afterEach(() => rmSync(folder, { recursive: true }));

const move = (clock: SandboxClock, ms: number) => clock.advance(ms, async (moved) => moved());

test('a move changes wall() only, and each time before and after it leads back to the system’s', async () => {
  const clock = SandboxClock.open(folder, base);
  const start = base.now();
  await move(clock, HOUR_MS);
  base.advance(1000);
  await move(clock, 2 * HOUR_MS);
  base.advance(1000);
  expect([clock.now(), clock.wall()]).toEqual([start + 2000, start + 2000 + 3 * HOUR_MS]);
  expect(clock.system(start - 1)).toBe(start - 1);
  expect(clock.system(start + HOUR_MS + 500)).toBe(start + 500);
  expect(clock.system(clock.wall())).toBe(base.wall());
});

test('timers fire at their time of now(), before and after a restart', async () => {
  await move(SandboxClock.open(folder, base), HOUR_MS);
  const clock = SandboxClock.open(folder, base);
  expect([clock.now(), clock.wall()]).toEqual([base.now() + HOUR_MS, base.wall() + HOUR_MS]);
  let fired = 0;
  clock.at(clock.now() + 1000, () => {
    fired += 1;
  });
  await move(clock, HOUR_MS);
  base.advance(999);
  expect(fired).toBe(0);
  base.advance(1);
  expect(fired).toBe(1);
});

test('a move that was refused leaves the clock as it was, now and after a restart', async () => {
  const clock = SandboxClock.open(folder, base);
  const refused = clock.advance(HOUR_MS, () => Promise.reject(new Error('the disk is full')));
  await expect(refused).rejects.toThrow('the disk is full');
  expect(clock.wall()).toBe(base.wall());
  expect(SandboxClock.open(folder, base).wall()).toBe(base.wall());
});

test.each(['', '{}', '{"moves":[[1]]}', '{"moves":[[1,"2"]]}'])('a damaged file %j is named', (text) => {
  writeFileSync(join(folder, 'sandbox-clock.json'), text);
  expect(() => SandboxClock.open(folder, base)).toThrow(/sandbox-clock\.json is damaged: remove it/);
});
