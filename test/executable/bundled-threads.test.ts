/** Threads of a service load their own bundle: a service starts several, and each would read a hundred files again. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { builtModule } from '../support/built/modules.ts';

const SERVICES = fileURLToPath(new URL('../../services/', import.meta.url));

const threads = readdirSync(SERVICES, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => {
    const started = readFileSync(join(SERVICES, path), 'utf8').matchAll(
      /spawnWorker\(\s*new URL\('([^']+)'/g,
    );
    return [...started].map(([, module = '']) => join(dirname(path), module));
  });

it('there are threads that a service starts', () => {
  expect(threads).toContain(join('store', 'sqlite', 'writer.ts'));
  expect(threads.length).toBeGreaterThan(4);
});

it.each(threads)(
  '%s is built with what it imports, but for modules that find others by their address',
  (thread) => {
    const built = fileURLToPath(builtModule(new URL(`../../services/${thread}`, import.meta.url)));
    const imported = [...readFileSync(built, 'utf8').matchAll(/^import .*?from "(\.[^"]+)";$/gms)];
    for (const [, path = ''] of imported) {
      expect(readFileSync(join(dirname(built), path), 'utf8'), path).toContain('import.meta.url');
    }
  },
);
