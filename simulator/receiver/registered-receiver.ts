import { MerchantApi } from '../client/merchant-api.ts';
import type { Session } from '../session.ts';
import { orCannotListen } from './https-server.ts';
import { disableEndpoint, ENDPOINT_IN_FORCE_MS, ensureEndpoint, KeptEndpoint } from './kept-endpoint.ts';
import type { Receiver } from './receiver.ts';

/** A receiver with an endpoint of its own. */
export interface Registered {
  readonly url: string;
  readonly uuid: string;
  readonly secret: string;
  /** Disables the endpoint; when that is not possible, says so. Never rejects. */
  disable(): Promise<void>;
}

/** The most receivers without a port of their own that run at once. */
const RECEIVERS_MAX = 20;

/**
 * Starts a receiver that keeps its endpoint: on the port that is given, or on the one of the last run. Receivers that
 * run at once have an endpoint each.
 */
export async function startOnKeptPort(
  dataDir: string,
  { host, port }: { readonly host: string; readonly port: number },
  startOn: (port: number) => Promise<Receiver>,
): Promise<{ readonly receiver: Receiver; readonly kept: KeptEndpoint }> {
  if (port !== 0) {
    const kept = new KeptEndpoint(dataDir, `receiver ${host}:${port}`);
    return { receiver: await orCannotListen(startOn(port), host, port), kept };
  }
  for (let number = 1; number <= RECEIVERS_MAX; number += 1) {
    const kept = new KeptEndpoint(dataDir, `receiver ${host} ${number}`);
    const last = kept.read().port;
    const receiver = await startOn(last ?? 0).catch((error: NodeJS.ErrnoException) => {
      if (last !== undefined && error.code === 'EADDRINUSE') return undefined;
      throw error;
    });
    if (receiver === undefined) continue;
    kept.change({ port: receiver.port });
    return { receiver, kept };
  }
  // Others have taken all those ports.
  const kept = new KeptEndpoint(dataDir, `receiver ${host} 1`);
  return { receiver: await orCannotListen(startOn(0), host, 0), kept };
}

/** Makes the endpoint of a receiver, or enables the one of the last run. */
export async function registerReceiver(
  session: Session,
  receiver: Receiver,
  kept: KeptEndpoint,
): Promise<Registered> {
  const { output } = session;
  const wanted = {
    url: new URL(kept.name, receiver.url).href,
    description: 'hookrail sim receiver',
    events: null,
  };
  const made = ensureEndpoint(new MerchantApi(session.api()), kept, wanted);
  const { uuid, secret, isChanged } = await output.during(() => 'registering', made);
  receiver.setSecret(secret);
  if (isChanged) await output.during(() => 'registering', session.pause(ENDPOINT_IN_FORCE_MS));
  return {
    url: wanted.url,
    uuid,
    secret,
    disable: () =>
      disableEndpoint(new MerchantApi(session.lastingApi()), kept).catch(() => {
        output.warn(`its endpoint could not be disabled; do it with: hookrail sim endpoints disable ${uuid}`);
      }),
  };
}
