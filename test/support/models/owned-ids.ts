import { makePortalLink } from '../../../services/api/portal/portal-links.ts';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import { uuidV5 } from '../../../services/domain/ids.ts';
import { createKey } from '../../../services/management/keys.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { OPERATOR } from '../../../services/store/change.ts';
import { createEndpoint, ENDPOINTS, type TestApi } from '../api/test-api.ts';
import { anEvent } from '../records/broker-records.ts';
import {
  delivered,
  eventNumber,
  HOUR_MS,
  head,
  journalOf,
  routed,
  START,
} from '../records/journal-entries.ts';
import { putAside } from '../records/put-aside.ts';

/** The resource that an id in a path names, seen by the requesting merchant. */
export const ID_CLASSES = ['own', 'foreign', 'random', 'deleted', 'malformed'] as const;
export type IdClass = (typeof ID_CLASSES)[number];

/** Ids by the name of the path parameter that takes them. */
export type Ids = Readonly<Record<string, string>>;

/** The error code for an unknown id, by path parameter. A new parameter needs a line here and in `#make` below. */
export const NOT_FOUND: Readonly<Record<string, string>> = {
  id: 'webhook_endpoint_not_found',
  delivery_id: 'delivery_not_found',
  event_id: 'event_not_found',
  replay_id: 'replay_not_found',
  subject_id: 'subject_not_found',
  any_id: 'id_not_found',
  merchant_id: 'merchant_not_found',
  portal_session_uuid: 'portal_session_not_found',
  api_key_uuid: 'api_key_not_found',
  incident_replay_id: 'incident_replay_not_found',
  quarantine_id: 'quarantined_not_found',
};

/** Parameters that take any text, because ids of banks are no UUIDs: what is malformed elsewhere is unknown there. */
export const ANY_TEXT: readonly string[] = ['subject_id', 'any_id', 'merchant_id', 'quarantine_id'];

export const MALFORMED_IDS = ['x', '123', 'null', '%00', '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f100', "1'--"];

/** Operations that put an end to what others need, or hold it back: they get a merchant of their own. */
const OF_ANOTHER_MERCHANT = ['pauseMerchant', 'closeMerchant'];

/** The merchant of the example in the description. */
export const EXAMPLE_MERCHANT = '2f6c1f0a-6f1d-4a53-9b8e-5a0c7d2e4b11';
const NOT_IN_QUARANTINE = '999999999';
/** Operations that need a record in quarantine, and its merchant; absent: the own one. */
const QUARANTINED: Readonly<Record<string, { readonly merchantId?: string }>> = {
  getQuarantined: {},
  replayQuarantined: {},
  replayQuarantine: { merchantId: EXAMPLE_MERCHANT },
};

/** Older than any retention. */
const EXPIRED_AT = START - 10_000 * HOUR_MS;

/** Creates resources of two merchants, and deleted ones. */
export class OwnedIds {
  readonly #api: TestApi;
  readonly #journal: ReturnType<typeof journalOf>;
  #made = 0;

  constructor(api: TestApi) {
    this.#api = api;
    this.#journal = journalOf(api.store);
  }

  /** Creates an endpoint with a delivered event. New ones for each call, since operations change and delete them. */
  own(): Promise<Ids> {
    return this.#make('own');
  }

  /** As `own`, for one operation. */
  async ownFor({ operationId }: { readonly operationId: string }): Promise<Ids> {
    const ids = await this.own();
    if (operationId === 'cancelIncidentReplay')
      return { ...ids, incident_replay_id: await this.#runningReplay() };
    if (operationId in QUARANTINED)
      return { ...ids, quarantine_id: await this.#quarantined(QUARANTINED[operationId]) };
    if (!OF_ANOTHER_MERCHANT.includes(operationId)) return ids;
    const { merchantId } = await this.#api.store.merchants.create({
      merchantId: systemRandom.uuid(),
      name: 'Short-lived',
      senderAccountDetails: false,
    });
    return { ...ids, merchant_id: merchantId };
  }

  /** Creates ids of every class but `own`, for every parameter. Call it before `own`. */
  async others(): Promise<Readonly<Record<Exclude<IdClass, 'own' | 'malformed'>, Ids>>> {
    // First, because retention deletes the oldest first.
    const expired = await this.#make('own', EXPIRED_AT);
    while ((await this.#api.store.log.retain(EXPIRED_AT + HOUR_MS, 1000)) > 0);
    await this.#api.call('DELETE', `${ENDPOINTS}/${expired.id}`);
    // The platform knows every merchant and every replay there is.
    const unknown = () => ({
      ...{ merchant_id: crypto.randomUUID(), incident_replay_id: crypto.randomUUID() },
      quarantine_id: NOT_IN_QUARANTINE,
    });
    const foreign = { ...(await this.#make('foreign')), ...unknown() };
    const random = Object.fromEntries(Object.keys(NOT_FOUND).map((name) => [name, crypto.randomUUID()]));
    const gone = { portal_session_uuid: await this.#endedSession(), api_key_uuid: this.#api.keyIds.revoked };
    return { foreign, random, deleted: { ...expired, ...unknown(), ...gone } };
  }

  async #make(of: 'own' | 'foreign', occurredAt?: number): Promise<Ids> {
    this.#made += 1;
    const api = this.#api;
    const created = await api.call('POST', ENDPOINTS, {
      json: { url: `https://hooks.merchant.com/${this.#made}`, description: `number ${this.#made}` },
      key: api.keys[of],
    });
    if (created.status !== 201)
      throw new Error(`creating an endpoint returned ${created.status}: ${created.text}`);
    const { uuid } = created.body;
    // A discard has something to discard.
    await api.call('POST', `${ENDPOINTS}/${uuid}/secret/prepare`, { key: api.keys[of] });
    const merchantId = of === 'own' ? api.merchantId : api.foreignMerchantId;
    const event = {
      ...eventNumber(merchantId, this.#made, occurredAt === undefined ? {} : { occurredAt }),
      eventId: uuidV5('owned', uuid),
    };
    const delivery = head(event, uuid);
    await this.#journal(routed(event, [uuid]), delivered(delivery));
    const replayId = await this.#endedReplay(merchantId, uuid);
    return {
      ...{ id: uuid, delivery_id: delivery.deliveryId, event_id: event.eventId, replay_id: replayId },
      ...{ subject_id: subjectIdOf(event) ?? event.entityId, any_id: event.eventId },
      ...{ merchant_id: merchantId, portal_session_uuid: await this.#session(merchantId) },
      api_key_uuid: await this.#key(merchantId),
      ...{ incident_replay_id: replayId, quarantine_id: NOT_IN_QUARANTINE },
    };
  }

  /** Puts an event into quarantine that can be put back. */
  #quarantined(of: { readonly merchantId?: string } = {}): Promise<string> {
    const { broker, merchantId } = this.#api;
    return putAside(broker, anEvent({ merchantId }), { reason: 'render_failed', merchantId, ...of });
  }

  async #key(merchantId: string): Promise<string> {
    const deps = { ...this.#api, random: systemRandom, actor: OPERATOR, environment: 'sandbox' } as const;
    const { key } = await createKey(deps, { kind: 'merchant', merchantId, name: null });
    return key.keyId;
  }

  /** Creates a replay of an endpoint that was just made: it begins once every sender knows the endpoint. */
  async #runningReplay(): Promise<string> {
    const { store, merchantId } = this.#api;
    const { uuid } = await createEndpoint(this.#api);
    const replayId = systemRandom.uuid();
    const scope = { merchantId, endpointId: uuid, only: 'missing', since: 0, until: 1 } as const;
    const replay = { ...scope, replayId, count: 0, types: null, eventIds: null };
    await store.replays.create(replay, { at: START, actor: OPERATOR });
    return replayId;
  }

  /** Makes a link to the console. */
  async #session(merchantId: string): Promise<string> {
    const made = await makePortalLink(
      { ...this.#api, random: systemRandom, actor: { kind: 'operator' } },
      merchantId,
      {},
    );
    return made.sessionId;
  }

  async #endedSession(): Promise<string> {
    const { merchantId, store, clock } = this.#api;
    const sessionId = await this.#session(merchantId);
    const by = { at: clock.wall() + 1, actor: { kind: 'operator' } } as const;
    await store.portalSessions.revoke({ merchantId, sessionId }, by);
    return sessionId;
  }

  /** Creates a completed replay: unlike a running one, it does not block another. */
  async #endedReplay(merchantId: string, endpointId: string): Promise<string> {
    const { replays } = this.#api.store;
    const replayId = uuidV5('owned-replay', endpointId);
    const scope = {
      merchantId,
      endpointId,
      only: 'missing',
      since: 0,
      until: 1,
      types: null,
      eventIds: null,
    } as const;
    const by = { at: START, actor: { kind: 'operator' } } as const;
    await replays.create({ ...scope, replayId, count: 0 }, by);
    await replays.finish(replayId, { ...by, status: 'completed', reason: null });
    return replayId;
  }
}
