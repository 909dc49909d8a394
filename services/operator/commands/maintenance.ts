import { timestamp } from '../../api/endpoint-json.ts';
import type { KeyRing } from '../../keys/keyring.ts';
import { auditOf } from '../../management/audit.ts';
import { orderErasure } from '../../management/erasures.ts';
import { messageOf } from '../../messages/error-message.ts';
import { CursorInvalid, personOf } from '../../store/change.ts';
import type { AuditEntry } from '../../store/maintenance.ts';
import { type Arguments, type Given, timeOf } from './arguments.ts';
import { type OperatorDeps, on } from './command.ts';
import { carryOutErasure } from './erase-entity.ts';
import { requireMerchant } from './merchants.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { rewrap } from './rewrap.ts';

/** Maintenance of the store: the audit, the erasure of an entity, the key ring, backups. */

const AUDIT = {
  merchant: { type: 'text', describe: 'Only of this merchant' },
  endpoint: { type: 'text', describe: 'Only of this endpoint' },
  since: { type: 'time', describe: 'Only since this time: 2030-01-31T08:00:00Z, or 30m, 2h, 7d ago' },
  limit: { type: 'number', most: 1000, default: 100, describe: 'Number of changes to list' },
  after: { type: 'text', describe: 'Only changes older than this cursor' },
} as const satisfies Arguments;

const ERASED = {
  entity: { type: 'uuid', required: true, describe: 'Uuid of the user or corporate' },
  merchant: { type: 'text', describe: 'Only events of this merchant' },
  yes: { type: 'flag', describe: 'Confirm: this cannot be undone' },
} as const satisfies Arguments;

/** The changes of the key ring's file: of its keys, and of the platform's signing keys. */
const RING_CHANGES = [
  ...['create', 'add', 'remove'],
  ...['create_signing_key', 'rotate_signing_key', 'retire_signing_key'],
];

export const MAINTENANCE_COMMANDS = {
  'audit list': on('store', {
    describe: 'List changes, and who made them',
    isRead: true,
    args: AUDIT,
    columns: ['at', 'action', 'person'],
    isNewestFirst: true,
    run: listAudit,
  }),
  'entity erase': on('store', {
    describe: 'Remove the bodies of one user’s or corporate’s events, for good',
    args: ERASED,
    isLong: true,
    run: eraseEntity,
  }),
  'keyring usage': on('store', {
    describe: 'Count what each key seals; keyring list shows it',
    isRead: true,
    hasNoLine: true,
    run: usage,
  }),
  'keyring note': on('store', {
    describe: 'Record a change of the key ring’s file, which the tool makes itself',
    args: {
      change: { type: 'text', required: true, choices: RING_CHANGES },
      keyRing: { type: 'path', required: true },
      key: { type: 'text', required: true },
    },
    hasNoLine: true,
    run: async (deps, { change, ...details }) => {
      await auditOf(deps)(`keyring.${change}`, details);
      return details;
    },
  }),
  'keyring rewrap': on('store', {
    describe: 'Seal everything with the active key, while the service runs',
    isLong: true,
    run: rewrapAll,
  }),
  'store backup': on('store', {
    describe: 'Copy the store into a new file, while the service runs',
    args: {
      to: { type: 'path', required: true, positional: true, absolute: true, describe: 'File to write' },
    },
    isLong: true,
    run: async (deps, { to }) => {
      await auditOf(deps)('store.backup', { to });
      const { bytes } = await deps.store.backup(to).catch((error: Error) => {
        throw new OperatorError(error.message);
      });
      return { to, bytes };
    },
  }),
};

async function listAudit({ store, clock }: OperatorDeps, given: Given<typeof AUDIT>) {
  const { merchant, endpoint, limit, after } = given;
  const since = timeOf(given.since, clock.wall());
  const entries = await store.audit
    .list({
      limit,
      ...(merchant === undefined ? {} : { merchantId: merchant }),
      ...(endpoint === undefined ? {} : { endpointId: endpoint }),
      ...(since === undefined ? {} : { since }),
      ...(after === undefined ? {} : { after }),
    })
    .catch((error: unknown) => {
      if (!(error instanceof CursorInvalid)) throw error;
      throw new UsageError('after: must be a cursor from audit list');
    });
  return entries.map(auditJson);
}

function auditJson(entry: AuditEntry & { readonly cursor: string }) {
  const { at, actor, key, merchantId, endpointId, action, details, cursor } = entry;
  return {
    at: timestamp(at),
    action,
    actor: actor.kind,
    person: personOf(actor),
    keyId: actor.kind === 'api_key' ? actor.keyId : null,
    ...(actor.kind === 'portal' ? { portalSessionId: actor.sessionId } : {}),
    key: key?.hint ?? null,
    keyName: key?.name ?? null,
    merchantId,
    endpointId,
    details,
    cursor,
  };
}

async function eraseEntity(deps: OperatorDeps, given: Given<typeof ERASED>) {
  const entityId = given.entity.toLowerCase();
  const merchantId = given.merchant ?? null;
  await requireMerchant(deps, merchantId);
  if (!given.yes)
    throw new OperatorError(
      `this removes the bodies of all events of ${entityId} for good, and they cannot be resent: confirm with --yes`,
    );
  const { store, clock, actor } = deps;
  const order = await orderErasure(deps, { entity: entityId, merchantId });
  const erased = await deps.withRecordStores((recordStores) =>
    carryOutErasure({ store, recordStores, clock, actor }, order),
  );
  return { entityId, merchantId, ...erased };
}

async function rewrapAll(deps: OperatorDeps) {
  const keyRing = deps.keyRing();
  try {
    keyRing.reread();
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
  await refuseMissing(deps, keyRing);
  const { endpoints, answers, records, notOpened, refused } = await rewrap({ ...deps, keyRing });
  const result = { keyRing: keyRing.file, active: keyRing.active, endpoints, answers, records };
  if (refused.length > 0)
    throw new OperatorError(
      `rewrapped with "${keyRing.active}": ${endpoints} endpoints, ${answers} answers, ${records} other records. These have no seal or do not fit ` +
        'it, so something other than hookrail has changed them in the database, and they stay as they are (restart the process ' +
        `with the role api: it puts back the newest sealed record of the directory stream): ${refused.slice(0, 10).join(', ')}`,
    );
  if (notOpened.length === 0) return result;
  throw new OperatorError(
    `rewrapped with "${keyRing.active}": ${endpoints} endpoints, ${answers} answers. These could not be opened with the key that ` +
      `they name, and stay as they are (their merchants can rotate the secret): ${notOpened.slice(0, 10).join(', ')}`,
  );
}

/** Returns how much each key seals: endpoints' secrets, stored responses, and whole records. */
async function usage({ store, clock }: Pick<OperatorDeps, 'store' | 'clock'>) {
  const byKey = new Map(
    (await store.sealings.counts(clock.wall())).map((used) => [used.keyId, { ...used, records: 0 }]),
  );
  for (const { keyId, records } of await store.sealings.recordCounts()) {
    byKey.set(keyId, { ...(byKey.get(keyId) ?? { keyId, endpoints: 0, answers: 0 }), records });
  }
  return [...byKey.values()];
}

/** Refuses to rewrap while a key is missing: what it sealed can be neither read nor sealed anew. */
async function refuseMissing({ store, clock }: OperatorDeps, keyRing: KeyRing): Promise<void> {
  const counts = await usage({ store, clock });
  const lacks = keyRing.lacks(
    counts.map(({ keyId, endpoints, records }) => [keyId, Math.max(endpoints, records)] as const),
  );
  if (lacks.length > 0) throw new OperatorError(`${lacks.join('; ')}: put it back first (HOOKRAIL_KEYRING)`);
}
