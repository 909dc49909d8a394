import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/**
 * In a process of its own: which copy of a name V8 keeps is decided when the process first meets it. Serialised, a text
 * of one byte per character begins with ", one of two with c.
 */
const PROBE = `
  const { validateRequests } = await import('./services/api/validation.ts');
  validateRequests();
  const { serialize } = await import('node:v8');
  const names = new Function('return Object.keys({ "webhook-id": 0, delivery: 0, failure_code: 0, secret_hint: 0 })')();
  const kind = (text) => serialize(text)[2] === 0x22 ? 'one' : 'two';
  console.log(JSON.stringify(names.map((name) => [name, kind(name)])));
`;

it('property names of the API description stay at one byte per character in memory', () => {
  const options = ['--import', 'tsx', '--input-type=module', '-e', PROBE];
  const kinds: [string, string][] = JSON.parse(execFileSync('node', options, { encoding: 'utf8' }));
  expect(kinds.map(([name]) => name)).toContain('failure_code');
  expect(kinds.filter(([, kind]) => kind !== 'one')).toEqual([]);
});
