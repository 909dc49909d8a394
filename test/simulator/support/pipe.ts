import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';

/** Makes a named pipe that is open for reading, so that who writes into it does not wait; `text` is what has come. */
export function readPipe(path: string): { text(): string } {
  execFileSync('mkfifo', [path]);
  const opened = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(opened));
  return { text: () => readFileSync(opened, 'utf8') };
}
