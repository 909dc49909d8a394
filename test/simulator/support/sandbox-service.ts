import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { issueCertificate, openAuthority } from '../../../simulator/receiver/certificate-authority.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../../simulator/receiver/receiver.ts';
import { prepareSetup } from '../../support/service/system.ts';
import { accessTo, operationsOf, simHere } from './command-line.ts';

/** A receiver, and the endpoint that a developer has made for it. */
export interface Registered {
  readonly receiver: Receiver;
  readonly uuid: string;
  readonly secret: string;
}

/** A service as a developer's sandbox, with the access that a shell would have. */
export interface SandboxService {
  readonly hookrail: Hookrail;
  readonly access: Readonly<Record<string, string>>;
  /** The access of a shell on the service's own machine. */
  readonly operatorAccess: Readonly<Record<string, string>>;
  /** Starts a receiver and makes an endpoint for it, which has `name` as its description. */
  register(name: string, options?: Partial<ReceiverOptions>, line?: readonly string[]): Promise<Registered>;
  stop(): Promise<void>;
}

export async function startSandboxService(
  environment: Readonly<Record<string, string>> = {},
): Promise<SandboxService> {
  const dir = mkdtempSync(join(tmpdir(), 'hookrail-sandbox-'));
  const authority = await openAuthority(dir);
  const { certPem: cert, keyPem: key } = await issueCertificate(authority, { hosts: ['127.0.0.1'] });
  const setup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(dir, 'ca.crt'),
    ...environment,
  });
  const hookrail = await startHookrail(setup.environment);
  const access = accessTo(setup, hookrail, dir);
  const receivers: Receiver[] = [];
  return {
    hookrail,
    access,
    operatorAccess: { ...access, HOOKRAIL_DATA_DIR: setup.dataDir, ...operationsOf(hookrail) },
    register: async (name, options = {}, line = []) => {
      const receiver = await startReceiver({ port: 0, cert, key, ...options });
      receivers.push(receiver);
      const create = ['endpoints', 'create', '--url', receiver.url, '--description', name, ...line];
      const { stdout, stderr } = await simHere([...create, '--output', 'json'], access);
      if (stdout === '') throw new Error(stderr);
      const { uuid, signing_secret: secret } = JSON.parse(stdout);
      return { receiver, uuid, secret };
    },
    stop: async () => {
      for (const receiver of receivers) await receiver.close();
      await hookrail.stop();
      for (const each of [dir, setup.dataDir]) rmSync(each, { recursive: true });
    },
  };
}
