import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StallEntry } from '../../../domain/stalls/stall.ts';

/** Appends an entry to the file of stalls; durable when it resolves. Also run by the watchdog's thread. */
export async function writeStall(file: string, entry: StallEntry): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  try {
    // The line before it may be incomplete.
    await handle.appendFile(`\n${JSON.stringify(entry)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // The file may be new.
  const folder = await open(dirname(file));
  await folder.sync().finally(() => folder.close());
}
