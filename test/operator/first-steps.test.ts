/** Guarantee: the first steps of docs/deploy.md work as they are typed, on a machine that has no data directory yet. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandsOf } from '../support/pages/command-blocks.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUN_MAX_MS = 120_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-first-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function type(command: string, environment: Readonly<Record<string, string>>): string {
  const typed = command.replace(
    'npx --no hookrail',
    `"${process.execPath}" "${join(ROOT, 'bin/hookrail.mjs')}"`,
  );
  return execFileSync('bash', ['-c', typed], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...environment },
    encoding: 'utf8',
  });
}

test.each<[string, (folder: string) => Readonly<Record<string, string>>]>([
  ['./data', () => ({})],
  ['a folder in a folder that is missing', (at) => ({ HOOKRAIL_DATA_DIR: join(at, 'srv', 'hookrail') })],
  [
    'a key ring elsewhere',
    (at) => ({ HOOKRAIL_DATA_DIR: join(at, 'srv'), HOOKRAIL_KEYRING: join(at, 'secrets', 'keyring.json') }),
  ],
])(
  'the first steps work with %s',
  (_name, variables) => {
    const environment = {
      HOOKRAIL_ENVIRONMENT: 'production',
      HOOKRAIL_OPERATOR: 'Ann',
      ...variables(folder),
    };
    const commands = commandsOf('docs/deploy.md', 'One process');
    expect(commands.length).toBe(4);
    const printed: string[] = [];
    for (const command of commands) {
      const merchantId = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(printed[1] ?? '')?.[0] ?? '';
      printed.push(type(command.replace('<merchantId>', merchantId), environment));
    }
    expect(printed[2]).toContain('sk_live_');
    expect(printed[3]).toContain('pk_live_');
    const data = variables(folder).HOOKRAIL_DATA_DIR ?? join(folder, 'data');
    expect(existsSync(join(data, 'store.db'))).toBe(true);
    expect(statSync(data).mode & 0o777).toBe(0o700);
  },
  RUN_MAX_MS,
);
