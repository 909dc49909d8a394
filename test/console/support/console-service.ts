import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { accessTo, operationsOf, simHere } from '../../simulator/support/command-line.ts';
import {
  type AnsweringReceiver,
  startAnsweringReceiver,
} from '../../support/receivers/answering-receiver.ts';
import { anotherMerchant } from '../../support/service/merchants.ts';
import { besides, toolAnswer } from '../../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../../support/service/system.ts';

/** Markup in every text that a stranger writes: it must be shown, and do nothing. */
export const HOSTILE = '<img src=x onerror="document.title=1"><b>bold</b>\u202egnp';

/** A real service with endpoints, whose console a browser opens. */
export interface ConsoleService {
  readonly setup: ServiceSetup;
  readonly hookrail: Hookrail;
  readonly receiver: AnsweringReceiver;
  /** Endpoints by name: one answers 200, one 500 with markup, one takes KYC only. */
  readonly endpoints: Readonly<Record<'shop' | 'broken' | 'kyc', string>>;
  /** Runs a line of the command line, and returns its JSON. */
  sim(...line: readonly string[]): Promise<unknown>;
  /** Runs a line of the operator's tool, and returns its JSON. */
  operator(...line: readonly string[]): Promise<unknown>;
  /** Makes a link of the console, as the platform does. */
  link(options?: Readonly<Record<string, unknown>>): Promise<string>;
  stop(): Promise<void>;
}

interface Options {
  /** Settings beside those of every service of a test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The name of a merchant that is made for the test. */
  readonly merchantName?: string;
  /** Writes into the broker before the service starts. */
  readonly fill?: (setup: ServiceSetup) => Promise<void>;
}

export async function startConsoleService({
  environment = {},
  merchantName,
  fill = async () => {},
}: Options = {}): Promise<ConsoleService> {
  const prepared = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent', ...environment });
  const setup = merchantName === undefined ? prepared : await anotherMerchant(prepared, merchantName);
  await fill(setup);
  const hookrail = await startHookrail(setup.environment);
  const receiver = await startAnsweringReceiver(setup.receiverCert);
  receiver.answerAt('/broken', { status: 500, body: `{"error":"${HOSTILE.replaceAll('"', "'")}"}` });
  const access = { ...accessTo(setup, hookrail, setup.dataDir), ...operationsOf(hookrail) };
  const sim = async (...line: readonly string[]) => {
    const { stdout, stderr } = await simHere([...line, '--output', 'json'], access);
    if (stdout === '') throw new Error(`${line.join(' ')}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const endpoint = async (path: string, description: string, ...more: readonly string[]) => {
    const line = ['endpoints', 'create', '--url', receiver.url + path, '--description', description, ...more];
    return (await sim(...line)).uuid as string;
  };
  return {
    setup,
    hookrail,
    receiver,
    endpoints: {
      shop: await endpoint('/shop', 'shop'),
      broken: await endpoint('/broken', HOSTILE),
      kyc: await endpoint('/kyc', 'KYC only', '--events', 'KYC'),
    },
    sim,
    operator: (...line) => toolAnswer(besides(setup.environment, hookrail), ...line),
    link: async (options = {}) => {
      const path = `/platform/merchants/${setup.merchantId}/portal-sessions`;
      const response = await fetch(hookrail.apiUrl + path, {
        method: 'POST',
        headers: { authorization: `API-Key ${setup.platformKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(options),
      });
      const { url } = (await response.json()) as { url?: string };
      if (url === undefined) throw new Error(`no link: ${response.status}`);
      return url;
    },
    stop: async () => {
      await receiver.close();
      await hookrail.stop();
    },
  };
}
