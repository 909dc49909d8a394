import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fleet } from '../kafka/fleet.ts';
import type { Exchange } from '../models/delivery-checker.ts';

/** Writes the processes' output and the receivers' log to KILL_LOOP_LOG_DIR, if set, to debug a failure. */
export function keepLogs({ processes }: Pick<Fleet, 'processes'>, exchanges: readonly Exchange[]): void {
  const folder = process.env.KILL_LOOP_LOG_DIR;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  for (const { name, output } of processes) writeFileSync(join(folder, `${name}.log`), output.join('\n'));
  writeFileSync(join(folder, 'exchanges.json'), JSON.stringify(exchanges));
}
