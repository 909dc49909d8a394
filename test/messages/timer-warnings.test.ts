/** No warning of Node about a library's timers is printed, and every other warning is. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Returns what a process prints that uses the module. */
function printed(script: string): string {
  const module = new URL('../../services/messages/timer-warnings.ts', import.meta.url);
  const text = `import { hushNegativeTimeouts } from '${module}'; ${script}`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', text];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return `${status} ${stdout}${stderr}`;
}

test('a timer in the past is not worth a line, however often it is hushed', () => {
  const timers = 'setTimeout(() => console.log("fired"), -1795691062239);';
  expect(printed(timers)).toContain('TimeoutNegativeWarning');
  expect(printed(`hushNegativeTimeouts(); hushNegativeTimeouts(); ${timers}`)).toBe('0 fired\n');
});

test.each([
  ['process.emitWarning("one", "DeprecationWarning", "DEP0");', 'DeprecationWarning: one'],
  ['process.emitWarning("two");', 'Warning: two'],
  ['process.emitWarning("three", { type: "OtherWarning", code: "X" });', 'OtherWarning: three'],
  ['setTimeout(() => process.exit(), 2 ** 40);', 'TimeoutOverflowWarning'],
])('another warning is printed: %s', (script, line) => {
  expect(printed(`hushNegativeTimeouts(); ${script}`)).toContain(line);
});
