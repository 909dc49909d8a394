/** How many places a change touches: a field of an endpoint, an operation of the store. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { byName } from '../../services/store/rules/bind.ts';
import { READS } from '../../services/store/rules/reads.ts';
import { WRITES } from '../../services/store/rules/writes.ts';

const files = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }));

const services = files('services');

/** Fields of an endpoint that are stored, changed and shown, and mean nothing to routers and senders. */
test.each([
  ['secretRotatedAt', 'secret_rotated_at'],
  ['disabledReason', 'disabled_reason'],
  ['disabledAt', 'disabled_at'],
])('a field of an endpoint, such as %s, is named in at most 11 files', (field, column) => {
  const name = new RegExp(`\\b(${field}|${column})\\b`);
  // The data of a notice has fields of its own, some of the same names.
  const others = services.filter(({ path }) => !path.includes('/notices/'));
  const naming = others.filter(({ text }) => name.test(text)).map(({ path }) => path);
  expect(naming.length, naming.join('\n')).toBeLessThanOrEqual(11);
  expect(naming.length).toBeGreaterThan(0);
});

/** The port, the rule and the contract: binding makes the operation of both engines. */
test('an operation that every store has is written in the port and in a rule only', () => {
  const engines = services.filter(({ path }) => /^services\/store\/(sqlite|postgres)\//.test(path));
  const rules = new Set([...byName(READS).values(), ...byName(WRITES).values()].map(({ name }) => name));
  expect(rules.size).toBeGreaterThan(40);
  const written = engines.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?(?:async )?function (\w+)/gm)]
      .filter(([, name]) => rules.has(`${name}`))
      .map(([, name]) => `${path}: ${name}`),
  );
  expect(written).toEqual([]);
});
