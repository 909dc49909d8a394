import { visible } from '../../services/domain/text/visible-text.ts';
import { type EndpointAnswer, MerchantApi } from '../client/merchant-api.ts';
import { openAuthority } from '../receiver/certificate-authority.ts';
import { forgetKept, ignoreNotFound } from '../receiver/kept-endpoint.ts';
import type { Session } from '../session.ts';
import type { ForwardTarget } from './forward-target.ts';
import { isOfListener } from './listen-endpoint.ts';
import { keptListener, mustBeAlone } from './listener.ts';

/**
 * Deletes the endpoints of listeners that do not run, with their secrets: that of one address, or all that are disabled.
 * Throws a usage failure when the listener of that address runs.
 */
export async function forgetListeners(session: Session, target: ForwardTarget | undefined): Promise<void> {
  const { output, settings } = session;
  const api = new MerchantApi(session.api());
  const found = target === undefined ? await idle(api) : await ofTarget(session, api, target);
  for (const { uuid, description } of found) {
    await api.deleteEndpoint(uuid).catch(ignoreNotFound);
    forgetKept(settings.dataDir, uuid);
    output.item(
      { kind: 'forgotten', endpoint_uuid: uuid, description },
      `forgotten: ${visible(description)}`,
    );
  }
  if (found.length === 0) output.item({ kind: 'nothing_to_forget' }, 'no endpoint of sim listen is disabled');
}

async function idle(api: MerchantApi): Promise<readonly EndpointAnswer[]> {
  return (await api.endpoints()).filter((each) => each.status !== 'active' && isOfListener(each));
}

async function ofTarget(
  session: Session,
  api: MerchantApi,
  target: ForwardTarget,
): Promise<readonly EndpointAnswer[]> {
  const kept = keptListener(session, target);
  await mustBeAlone(kept, target, await openAuthority(session.settings.dataDir));
  const { endpoint } = kept.read();
  return (await api.endpoints()).filter(({ uuid }) => uuid === endpoint);
}
