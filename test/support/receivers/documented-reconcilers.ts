import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from './documented-receivers.ts';

/** The examples that compare the event feed with what was received, run as processes. */
export const RECONCILERS = fileURLToPath(new URL('../../../docs/receivers', import.meta.url));

export interface Reconciler extends Pick<Runtime, 'name' | 'probe' | 'build'> {
  readonly command: (scratch: string) => readonly [string, ...string[]];
}

export const RECONCILER_RUNTIMES: readonly Reconciler[] = [
  {
    name: 'Node',
    probe: [process.execPath, '--version'],
    command: () => [process.execPath, 'reconcile.mjs'],
  },
  { name: 'Python', probe: ['python3', '--version'], command: () => ['python3', 'reconcile.py'] },
  {
    name: 'Go',
    probe: ['go', 'version'],
    build: (scratch) => ['go', 'build', '-o', join(scratch, 'reconcile'), 'reconcile.go'],
    command: (scratch) => [join(scratch, 'reconcile')],
  },
  { name: 'PHP', probe: ['php', '--version'], command: () => ['php', 'reconcile.php'] },
];

/** Where an example keeps its state, and what it compares with. */
export interface ReconcilerPlace {
  readonly scratch: string;
  readonly state: string;
  readonly received: string;
}

/** Makes a place, and compiles where that is needed. */
export function reconcilerPlace({ name, build }: Reconciler): ReconcilerPlace {
  const scratch = mkdtempSync(join(tmpdir(), 'hookrail-reconcile-'));
  const [compiler, ...args] = build?.(scratch) ?? [];
  if (compiler !== undefined) {
    const { status, stderr } = spawnSync(compiler, args, { cwd: RECONCILERS });
    if (status !== 0) throw new Error(`the ${name} example does not compile:\n${stderr}`);
  }
  const received = join(scratch, 'received.txt');
  writeFileSync(received, '');
  return { scratch, received, state: join(scratch, 'state') };
}

/** Returns the cursor and the events that are missing, as the example has stored them. */
export function stateOf({ state }: ReconcilerPlace): { cursor: string; missing: readonly string[] } {
  const [cursor = '', ...missing] = readFileSync(state, 'utf8').split('\n').filter(Boolean);
  return { cursor, missing };
}
