import { linkUrl, makePortalLink } from '../../../services/api/portal/portal-links.ts';
import type { Hookrail } from '../../../services/main.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { systemRandom } from '../../../services/process/random.ts';
import type { Access } from './keys.ts';

/** Makes a link to the console of the sandbox's merchant: for one browser, within 15 minutes. */
export async function makeConsoleLink({ store }: Hookrail, { baseUrl, merchantId }: Access): Promise<string> {
  if (!store) throw new Error('the sandbox has no store');
  const deps = { store, clock: systemClock(), random: systemRandom, actor: { kind: 'operator' } as const };
  const { token } = await makePortalLink(deps, merchantId, {});
  return linkUrl(`${baseUrl}/console`, token);
}
