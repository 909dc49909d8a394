import { timestamp } from '../../api/endpoint-json.ts';
import { isUuid } from '../../domain/ids.ts';
import type { KeyRing } from '../../keys/keyring.ts';
import { messageOf } from '../../messages/error-message.ts';
import { CursorInvalid, personOf } from '../../store/change.ts';
import type { AuditEntry } from '../../store/maintenance.ts';
import {
  type Arguments,
  auditOf,
  type Command,
  flag,
  limitOf,
  type OperatorDeps,
  OperatorError,
  text,
  timeOf,
} from './arguments.ts';
import { carryOutErasure } from './erase-entity.ts';
import { rewrap } from './rewrap.ts';

/** Maintenance commands: the audit, the erasure of an entity, the key ring. */

const AUDIT_DEFAULT = 100;
const AUDIT_MAX = 1000;
const PATH_CHARACTERS_MAX = 4096;

export const MAINTENANCE_COMMANDS = {
  'audit-list': listAudit,
  'entity-erase': eraseEntity,
  'keyring-usage': usage,
  'keyring-note': noteKeyRing,
  'keyring-rewrap': rewrapAll,
} as const satisfies Record<string, Command>;

async function listAudit({ store, clock }: OperatorDeps, given: Arguments): Promise<unknown> {
  const since = timeOf(given, 'since', clock.wall());
  const entries = await store.audit
    .list({
      limit: limitOf(given, AUDIT_DEFAULT, AUDIT_MAX),
      ...(given.merchant === undefined ? {} : { merchantId: text(given, 'merchant') }),
      ...(given.endpoint === undefined ? {} : { endpointId: text(given, 'endpoint') }),
      ...(since === undefined ? {} : { since }),
      ...(given.after === undefined ? {} : { after: text(given, 'after') }),
    })
    .catch((error: unknown) => {
      if (!(error instanceof CursorInvalid)) throw error;
      throw new OperatorError('after: must be a cursor from audit list');
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
    key: key?.hint ?? null,
    keyName: key?.name ?? null,
    merchantId,
    endpointId,
    details,
    cursor,
  };
}

async function eraseEntity(deps: OperatorDeps, given: Arguments): Promise<unknown> {
  const entityId = text(given, 'entity').toLowerCase();
  if (!isUuid(entityId)) throw new OperatorError(`entity: "${entityId}" is not a UUID`);
  const merchantId = given.merchant === undefined ? null : text(given, 'merchant');
  if (merchantId !== null && !(await deps.store.merchants.get(merchantId))) {
    throw new OperatorError(`there is no merchant ${merchantId}: see merchants list`);
  }
  if (flag(given, 'yes') !== true) {
    throw new OperatorError(
      `this removes the bodies of all events of ${entityId} for good, and they cannot be resent: confirm with --yes`,
    );
  }
  const { store, clock, actor } = deps;
  const options = { at: clock.wall(), actor };
  const erasureId = await store.erasures.order({ entityId, merchantId }, options);
  const order = { erasureId, entityId, merchantId };
  const erased = await deps.withRecordStores((recordStores) =>
    carryOutErasure({ store, recordStores, clock, actor }, order),
  );
  return { entityId, merchantId, ...erased };
}

const KEYRING_CHANGES = ['create', 'add', 'remove'];

/** Records a change of the key ring's file, which the operator's tool makes itself. */
async function noteKeyRing(deps: OperatorDeps, given: Arguments): Promise<unknown> {
  const change = text(given, 'change');
  if (!KEYRING_CHANGES.includes(change))
    throw new OperatorError(`change: must be one of ${KEYRING_CHANGES.join(', ')}`);
  const details = { keyRing: text(given, 'keyRing', PATH_CHARACTERS_MAX), key: text(given, 'key') };
  await auditOf(deps)(`keyring.${change}`, details);
  return details;
}

async function rewrapAll(deps: OperatorDeps): Promise<unknown> {
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
