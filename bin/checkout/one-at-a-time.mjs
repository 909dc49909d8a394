import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;

/** Does work that two processes in one checkout must not do at the same time; the second waits for the first. */
export async function oneAtATime(root, work) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const file = join(root, 'dist', '.preparing');
  let isTold = false;
  while (!isTaken(file)) {
    if (!isHeld(file)) continue;
    if (!isTold) process.stderr.write('waiting: another command is installing or building hookrail …\n');
    isTold = true;
    await sleep(POLL_MS);
  }
  try {
    await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Takes the lock, if there is none. */
function isTaken(file) {
  try {
    writeSync(openSync(file, 'wx'), String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Returns whether another process has the lock; removes one that a process left behind when it ended. */
function isHeld(file) {
  if (!existsSync(file)) return false;
  const pid = readFileSync(file, { encoding: 'utf8' });
  // Being written.
  if (pid === '' || isAlive(Number(pid))) return true;
  rmSync(file, { force: true });
  return false;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
