import { secretHint } from '../../services/domain/secret.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { disableEndpoint, ensureEndpoint, ignoreNotFound } from '../receiver/kept-endpoint.ts';
import type { Session } from '../session.ts';
import { listenDescription } from './listen-endpoint.ts';
import { keptListener, type ListenerOptions } from './listener.ts';

/**
 * Returns the secret of the endpoint that forwards to an address, without listening: the kept one, while it is in force.
 * The endpoint is made if there is none, and stays disabled until a listener starts.
 */
export async function secretFor(
  session: Session,
  { target, events, apiVersion, port }: Pick<ListenerOptions, 'target' | 'events' | 'apiVersion' | 'port'>,
): Promise<{ readonly uuid: string; readonly secret: string }> {
  const kept = keptListener(session, target);
  const { secret, endpoint: uuid, port: last } = kept.read();
  const api = new MerchantApi(session.api());
  if (secret !== undefined && uuid !== undefined) {
    const known = await api.endpoint(uuid).catch(ignoreNotFound);
    if (known?.secret_hint === secretHint(secret)) return { uuid, secret };
  }
  const url = `https://127.0.0.1:${port ?? last ?? PORT_UNKNOWN}/${kept.name}`;
  const description = listenDescription(target.url);
  const made = await ensureEndpoint(api, kept, { url, description, events, apiVersion });
  await disableEndpoint(new MerchantApi(session.lastingApi()), kept);
  return made;
}

/** Any port will do: the endpoint is disabled until a listener starts, which gives it its own. */
const PORT_UNKNOWN = 9443;
