import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bodyOf } from '../client/api-client.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { findEndpoint } from '../commands/log/find.ts';
import { usage } from '../exit.ts';
import { issueCertificate, openAuthority } from '../receiver/certificate-authority.ts';
import { ENDPOINT_IN_FORCE_MS } from '../receiver/kept-endpoint.ts';
import { startReceiver } from '../receiver/receiver.ts';
import type { Session } from '../session.ts';

/** The endpoints whose deliveries a load measures. */
export interface Targets {
  readonly endpoint: string | undefined;
  /** The number of endpoints that get or skip every event. */
  readonly count: number;
  /** Removes what was made for the load. Never rejects. */
  close(): Promise<void>;
}

const DESCRIPTION = 'Receiver of a load';

/**
 * Returns the merchant's endpoints, or the one that is named. Where none is active, a receiver and an endpoint of its own
 * are made for the time of the load.
 */
export async function openTargets(session: Session, endpoint: string | undefined): Promise<Targets> {
  const api = new MerchantApi(session.api());
  const close = async () => {};
  if (endpoint !== undefined) {
    const { uuid, status } = await api.endpoint(await findEndpoint(api, endpoint));
    if (status !== 'active')
      throw usage(`the endpoint is ${status}`, `hookrail sim endpoints enable ${uuid}`);
    return { endpoint: uuid, count: 1, close };
  }
  const endpoints = await api.endpoints();
  const { webhook_url: single } = await bodyOf(session.api().rest.GET('/merchant'));
  const count = endpoints.length + (single === null ? 0 : 1);
  const isAnyActive = single !== null || endpoints.some(({ status }) => status === 'active');
  return isAnyActive ? { endpoint: undefined, count, close } : ownTarget(session, api, count);
}

async function ownTarget(session: Session, api: MerchantApi, others: number): Promise<Targets> {
  const { output, settings } = session;
  if (!existsSync(join(settings.dataDir, 'ca.key'))) {
    throw usage(
      'no endpoint is active: there is nothing to measure',
      'hookrail sim endpoints create --url https://…',
    );
  }
  const authority = await openAuthority(settings.dataDir);
  const { certPem, keyPem } = await issueCertificate(authority, { hosts: ['localhost'] });
  const receiver = await startReceiver({ port: 0, cert: certPem, key: keyPem, keepMax: 1 });
  try {
    const url = receiver.url.replace('127.0.0.1', 'localhost');
    const { uuid } = await api.createEndpoint({ url, description: DESCRIPTION });
    output.remark(`no endpoint is active; the load brings its own receiver, ${url}`);
    await session.pause(ENDPOINT_IN_FORCE_MS);
    return {
      endpoint: undefined,
      count: others + 1,
      close: async () => {
        await api.deleteEndpoint(uuid).catch(() => {});
        await receiver.close();
      },
    };
  } catch (error) {
    await receiver.close();
    throw error;
  }
}
