import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../scripts/free-ports.ts';
import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { openAuthority } from '../../../simulator/receiver/certificate-authority.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { accessTo, simHere } from './command-line.ts';

/** A service whose sender trusts the authority of a command's data directory. */
export interface ListenSandbox {
  /** The data directory of the commands. */
  readonly folder: string;
  readonly access: Record<string, string>;
  /** Runs a command to its end, and returns its output; throws when it fails. */
  sim(line: string): Promise<string>;
  /** Starts the service again, at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the service; retries follow a hundred times as soon as specified. */
export async function startListenSandbox(): Promise<ListenSandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-listen-'));
  await openAuthority(folder);
  const setup: ServiceSetup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(folder, 'ca.crt'),
    HOOKRAIL_RETRY_SCALE: '100',
  });
  const environment = { ...setup.environment, HOOKRAIL_API_PORT: `${await freePort()}` };
  let hookrail: Hookrail = await startHookrail(environment);
  const access = accessTo(setup, hookrail, folder);
  return {
    folder,
    access,
    sim: async (line) => {
      const { code, stdout, stderr } = await simHere(line.split(' '), access);
      if (code !== 0) throw new Error(`${line}: exit ${code}\n${stderr}`);
      return stdout;
    },
    restart: async () => {
      await hookrail.stop();
      hookrail = await startHookrail(environment);
    },
    close: async () => {
      await hookrail.stop();
      for (const dir of [folder, setup.dataDir]) rmSync(dir, { recursive: true });
    },
  };
}
