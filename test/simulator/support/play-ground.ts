import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { issueCertificate, openAuthority } from '../../../simulator/receiver/certificate-authority.ts';
import { type Receiver, startReceiver } from '../../../simulator/receiver/receiver.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';
import { accessTo, type Finished, simHere } from './command-line.ts';

/** A service, a receiver that is registered, and a developer's folder. */
export interface PlayGround {
  readonly setup: ServiceSetup;
  readonly hookrail: Hookrail;
  readonly receiver: Receiver;
  readonly endpoint: string;
  /** Where commands keep their runs. */
  readonly folder: string;
  readonly access: Record<string, string>;
  /** Runs a command of the simulator. */
  readonly sim: (...args: readonly string[]) => Promise<Finished>;
  /** Runs a command, and returns its items; it must end with 0. */
  // biome-ignore lint/suspicious/noExplicitAny: the items of any command; tests read the fields they expect.
  readonly items: (...args: readonly string[]) => Promise<any[]>;
  close(): Promise<void>;
}

export async function openPlayGround(environment: Record<string, string> = {}): Promise<PlayGround> {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-play-'));
  const authority = await openAuthority(folder);
  const setup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(folder, 'ca.crt'),
    ...environment,
  });
  const hookrail = await startHookrail(setup.environment);
  const { certPem, keyPem } = await issueCertificate(authority, { hosts: ['localhost', '127.0.0.1'] });
  const receiver = await startReceiver({ port: 0, cert: certPem, key: keyPem });
  const access = accessTo(setup, hookrail, folder);
  const sim = (...args: readonly string[]) => simHere(args, access);
  const items: PlayGround['items'] = async (...args) => {
    const { code, stdout, stderr } = await sim(...args, '--output', 'json');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return [JSON.parse(stdout || '[]')].flat();
  };
  const [created] = await items('endpoints', 'create', '--url', receiver.url);
  receiver.setSecret(created.signing_secret);
  return {
    setup,
    hookrail,
    receiver,
    endpoint: created.uuid,
    folder,
    access,
    sim,
    items,
    close: async () => {
      await hookrail.stop();
      await receiver.close();
      for (const dir of [setup.dataDir, folder]) rmSync(dir, { recursive: true, force: true });
    },
  };
}
