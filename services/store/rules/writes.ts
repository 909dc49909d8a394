import { claim, keep, release } from './answer-writes.ts';
import type { BoundRules, Rules } from './bind.ts';
import { keepEndpointCheck } from './check-writes.ts';
import { adoptChanges, publishAgain } from './directory-restore.ts';
import { createEndpoint, removeEndpoint, updateEndpoint } from './endpoint-writes.ts';
import { finishErasure, orderErasure } from './erasure-writes.ts';
import { setLegacyEndpoint } from './legacy-endpoint-writes.ts';
import {
  closeMerchant,
  createKey,
  createMerchant,
  revokeKey,
  setKeyRights,
  updateMerchant,
} from './merchant-writes.ts';
import { addNotice, movePlace, noticeSent, takeNotice } from './notices/notice-writes.ts';
import { addToAudit, forgetPublished } from './outbox-writes.ts';
import { createPortalSession, openPortalSession, revokePortalSessions } from './portal-writes.ts';
import { addAbove, sealRecords } from './record-sealing.ts';
import { advanceReplay, createReplay, finishReplay } from './replay-writes.ts';
import { replaceSealed } from './sealing-writes.ts';
import { prepareSecret, rotateEndpoint } from './secret-writes.ts';

/** The changes that are the same in every store, by the part of the port that they are for; each is a transaction. */
export const WRITES = {
  merchants: { create: createMerchant, update: updateMerchant, close: closeMerchant },
  keys: { create: createKey, revoke: revokeKey, setRights: setKeyRights },
  endpoints: {
    create: createEndpoint,
    update: updateEndpoint,
    rotate: rotateEndpoint,
    prepare: prepareSecret,
    remove: removeEndpoint,
    setLegacy: setLegacyEndpoint,
    keepCheck: keepEndpointCheck,
  },
  answers: { claim, release, keep },
  outbox: { published: forgetPublished, addAgain: publishAgain, addAbove, adopt: adoptChanges },
  audit: { add: addToAudit },
  sealings: { replace: replaceSealed, sealRecords },
  erasures: { order: orderErasure, finish: finishErasure },
  portalSessions: { create: createPortalSession, open: openPortalSession, revoke: revokePortalSessions },
  notices: { add: addNotice, move: movePlace, take: takeNotice, sent: noticeSent },
  replays: { create: createReplay, advance: advanceReplay, finish: finishReplay },
} as const satisfies Rules;

export type Writes = BoundRules<typeof WRITES>;
