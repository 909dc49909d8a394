import type { BoundRules, Rules } from './bind.ts';
import { audit } from './reads/audit.ts';
import { endpoint, endpointCounts, endpoints, everyEndpoint, foundEndpoint } from './reads/endpoints.ts';
import { isErased, unfinishedErasures } from './reads/erasures.ts';
import { keyByHash, keyById, keyPage, keys, merchant, merchantPage, merchants } from './reads/merchants.ts';
import { dueNotices, notice, noticePlace, noticeRecipients } from './reads/notices.ts';
import { isPublished, pending, snapshot } from './reads/outbox.ts';
import { portalSessionByToken, portalSessions } from './reads/portal-sessions.ts';
import { replay, replays, runningReplays } from './reads/replays.ts';
import { notSealedWith, recordCounts, sealCounts } from './reads/sealings.ts';

/** The reads that are the same in every store, by the part of the port that they are for. */
export const READS = {
  merchants: { get: merchant, list: merchants, page: merchantPage },
  keys: { findByHash: keyByHash, get: keyById, list: keys, page: keyPage },
  endpoints: {
    get: endpoint,
    list: endpoints,
    find: foundEndpoint,
    every: everyEndpoint,
    counts: endpointCounts,
  },
  outbox: { pending, isPublished, snapshot },
  audit: { list: audit },
  sealings: { counts: sealCounts, notSealedWith, recordCounts },
  erasures: { unfinished: unfinishedErasures, isErased },
  portalSessions: { findByToken: portalSessionByToken, list: portalSessions },
  notices: { due: dueNotices, get: notice, place: noticePlace, recipients: noticeRecipients },
  replays: { get: replay, list: replays, running: runningReplays },
} as const satisfies Rules;

export type Reads = BoundRules<typeof READS>;
