/**
 * Guarantee: a start that cannot succeed explains itself in one clear line, says what to do, and exits with a code
 * that is not 0; existing files are not changed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareSetup, type ServiceSetup, startService } from '../support/service/system.ts';

let setup: ServiceSetup;

beforeAll(async () => {
  setup = await prepareSetup();
});

/** Starts the service and returns what it wrote until it exited; fails when it started, or exited with 0. */
async function refusal(environment: Record<string, string>): Promise<string> {
  const started = await startService({ ...setup.environment, ...environment }).catch((error: Error) => error);
  if (!(started instanceof Error)) {
    await started.end('SIGKILL');
    throw new Error('it started');
  }
  const [ending, ...all] = started.message.split('\n');
  // On a busy machine, the watchdog may tell that the start stood still.
  const lines = all.filter((line) => !line.includes('"event":"main_thread_'));
  expect(ending).toBe('the service exited with code 1:');
  expect(lines, started.message).toHaveLength(1);
  return lines[0] ?? '';
}

describe('the service refuses to start, in one line,', () => {
  it('with an unknown variable, and names the nearest', async () => {
    const line = await refusal({ HOOKRAIL_RETRY_SCAEL: '10' });
    expect(line).toContain(
      'HOOKRAIL_RETRY_SCAEL is not a variable of hookrail; did you mean HOOKRAIL_RETRY_SCALE?',
    );
  });

  it('with a port in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    for (const name of ['HOOKRAIL_API_PORT', 'HOOKRAIL_OPS_PORT']) {
      expect(await refusal({ [name]: String(port) })).toMatch(new RegExp(`${port} is in use.*${name}`));
    }
    taken.close();
  });

  it('without a key ring, or with a malformed one', async () => {
    const missing = join(setup.dataDir, 'gone.json');
    expect(await refusal({ HOOKRAIL_KEYRING: missing })).toContain(
      `key ring ${missing} does not exist; make one`,
    );
    const malformed = join(setup.dataDir, 'malformed.json');
    writeFileSync(malformed, '{"active": "k1"');
    expect(await refusal({ HOOKRAIL_KEYRING: malformed })).toContain(`key ring ${malformed} is malformed`);
  });

  it('with a corrupt file, and names it', async () => {
    for (const file of ['broker.db', 'store.db']) {
      const dataDir = mkdtempSync(join(tmpdir(), 'hookrail-corrupt-'));
      const path = join(dataDir, file);
      // As the service would have made it: wider rights are narrowed, and that is a line of its own.
      writeFileSync(path, Buffer.alloc(100_000, 'not a database '), { mode: 0o600 });
      const keyRing = setup.environment.HOOKRAIL_DATA_DIR ?? '';
      const line = await refusal({
        HOOKRAIL_DATA_DIR: dataDir,
        HOOKRAIL_KEYRING: join(keyRing, 'keyring.json'),
      });
      expect(line).toContain(path);
      rmSync(dataDir, { recursive: true });
    }
  });

  it('beside another process on the same files', async () => {
    const service = await startService(setup.environment);
    expect(await refusal({})).toMatch(/broker\.db|store\.db/);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});

afterAll(() => rmSync(setup.dataDir, { recursive: true, force: true }));
