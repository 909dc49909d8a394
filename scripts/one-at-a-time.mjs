import { mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;

/** Does work that two processes in one checkout must not do at the same time; the second waits for the first. */
export async function oneAtATime(root, work) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const file = join(root, 'dist', '.preparing');
  let isTold = false;
  while (!isTaken(file)) {
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

/** Takes the lock, also from a process that has died. */
function isTaken(file) {
  try {
    writeSync(openSync(file, 'wx'), String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isAlive(readFileSync(file, { encoding: 'utf8' }))) rmSync(file, { force: true });
    return false;
  }
}

function isAlive(pid) {
  // Being written.
  if (pid === '') return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
