import { systemNow } from '../../api/context.ts';
import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import { LINK_MINUTES, linkUrl, makePortalLink, SESSION_MINUTES } from '../../api/portal/portal-links.ts';
import { findOpenMerchant } from '../../management/merchants.ts';
import type { Arguments, Given } from './arguments.ts';
import { type OperatorDeps, on } from './command.ts';
import { requireMerchant } from './merchants.ts';
import { OperatorError } from './operator-error.ts';

/** Links and sessions of the console, which people of one merchant use. */

const MERCHANT = { type: 'text', required: true, positional: true, describe: 'The merchant’s id' } as const;
const LINK = {
  merchant: MERCHANT,
  readOnly: { type: 'flag', describe: 'The session changes nothing' },
  person: { type: 'text', most: 200, describe: 'Who opens it, for the audit' },
  minutes: { type: 'number', most: 60, default: LINK_MINUTES, describe: 'How long the link can be opened' },
  sessionMinutes: {
    type: 'number',
    least: 5,
    most: 1440,
    default: SESSION_MINUTES,
    describe: 'How long the session lasts',
  },
} as const satisfies Arguments;
const ENDED = {
  merchant: MERCHANT,
  session: { type: 'uuid', describe: 'Only this session' },
} as const satisfies Arguments;

export const PORTAL_COMMANDS = {
  'portal link': on('store', {
    describe: 'Make a link to a merchant’s console; it works once',
    args: LINK,
    run: link,
  }),
  'portal list': on('store', {
    describe: 'List a merchant’s sessions of the console, and links that were not opened',
    args: { merchant: MERCHANT },
    isRead: true,
    columns: ['sessionId', 'access', 'person', 'openedAt', 'endsAt'],
    isNewestFirst: true,
    run: list,
  }),
  'portal end': on('store', {
    describe: 'End a merchant’s sessions of the console, and make its links useless',
    args: ENDED,
    run: async (deps, { merchant: merchantId, session: sessionId }) => {
      await requireMerchant(deps, merchantId);
      const { store, clock, actor } = deps;
      const sessions = { merchantId, ...(sessionId === undefined ? {} : { sessionId }) };
      return {
        merchantId,
        ended: await store.portalSessions.revoke(sessions, { at: systemNow(clock), actor }),
      };
    },
  }),
};

async function link(deps: OperatorDeps, given: Given<typeof LINK>) {
  const { merchant: merchantId, readOnly = false, person, minutes, sessionMinutes } = given;
  await findOpenMerchant(deps, merchantId);
  const url = deps.consoleUrl;
  if (url === null)
    throw new OperatorError('the address of the console is not known: set HOOKRAIL_CONSOLE_URL');
  const access = readOnly ? 'read' : 'write';
  const options = { access, person, linkMinutes: minutes, sessionMinutes } as const;
  const { sessionId, token, linkExpiresAt } = await makePortalLink(deps, merchantId, options);
  return { url: linkUrl(url, token), sessionId, access, linkExpiresAt: timestamp(linkExpiresAt) };
}

const LISTED_MAX = 1000;

async function list(deps: OperatorDeps, { merchant: merchantId }: { readonly merchant: string }) {
  await requireMerchant(deps, merchantId);
  const sessions = await deps.store.portalSessions.list(merchantId, {
    at: systemNow(deps.clock),
    limit: LISTED_MAX,
  });
  return sessions.map(({ sessionId, access, person, createdAt, openedAt, expiresAt, linkExpiresAt }) => ({
    ...{ sessionId, access, person, createdAt: timestamp(createdAt), openedAt: timestampOrNull(openedAt) },
    endsAt: timestamp(expiresAt ?? linkExpiresAt),
  }));
}
