/** The busy loops end with the process that started them, however it ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startBusyLoops } from '../../scripts/bench/busy/busy-loops.ts';
import { eventually } from '../support/eventually.ts';

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('busy loops of the benchmark', () => {
  test('run until they are stopped', async () => {
    const loops = await startBusyLoops(2);
    expect(loops.pids.map(isRunning)).toEqual([true, true]);
    await loops.stop();
    expect(loops.pids.map(isRunning)).toEqual([false, false]);
  });

  test('end when their parent is killed', async () => {
    const module = new URL('../../scripts/bench/busy/busy-loops.ts', import.meta.url).href;
    const script = `
      import(${JSON.stringify(module)})
        .then(({ startBusyLoops }) => startBusyLoops(1))
        .then(({ pids }) => console.log(pids[0]));`;
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const parent = spawn(process.execPath, ['--import', 'tsx', '--eval', script], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(line);
    onTestFinished(() => {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    });
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await eventually('the loop has ended', () => !isRunning(pid));
  });
});
