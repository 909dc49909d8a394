/**
 * The operator's tool finds the service of a sandbox at the address that the sandbox wrote, whatever its port.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { runTool } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  hookrail = await startHookrail(setup.environment);
});
afterAll(async () => {
  await hookrail?.stop();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

it('the tool asks the service at the address in sandbox.env, unless the environment names another', async () => {
  const environment = { HOOKRAIL_DATA_DIR: setup.dataDir };
  const file = join(setup.dataDir, 'sandbox.env');
  writeFileSync(file, `HOOKRAIL_OPS_PORT=${new URL(hookrail.operationsUrl).port}\n`);
  for (const command of ['merchants', 'quarantine']) {
    expect(await runTool(environment, command, 'list')).toMatchObject({ code: 0, err: '' });
  }
  const elsewhere = await runTool({ ...environment, HOOKRAIL_OPS_PORT: '1' }, 'quarantine', 'list');
  expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining('127.0.0.1:1 ')]);
});
