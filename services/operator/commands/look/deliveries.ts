import { timestamp, timestampOrNull } from '../../../api/endpoint-json.ts';
import { transactionIdOf } from '../../../domain/catalog/subject.ts';
import { explainDelivery } from '../../../domain/failures/explanation.ts';
import { redactedHeaders } from '../../../domain/webhook-request.ts';
import { auditOf } from '../../../management/audit.ts';
import type { AttemptRecord, DeliveryRecord } from '../../../store/store.ts';
import type { Given } from '../arguments.ts';
import { type OperatorDeps, on } from '../command.ts';
import { requireMerchant } from '../merchants.ts';
import { OperatorError } from '../operator-error.ts';
import { DELIVERY_STATUS, logFilterOf, OF_LOG, refuseCursor } from './filters.ts';

/** Deliveries of any merchant. */

const LISTED = { ...DELIVERY_STATUS, ...OF_LOG };
const ONE = {
  id: { type: 'text', required: true, positional: true, describe: 'The delivery’s id' },
  body: { type: 'flag', describe: 'With the bodies of request and responses; the audit has that you looked' },
} as const;

export const DELIVERY_COMMANDS = {
  'deliveries list': on('store', {
    describe: 'List deliveries of all merchants',
    isRead: true,
    args: LISTED,
    isLong: true,
    isNewestFirst: true,
    columns: ['createdAt', 'status', 'type', 'deliveryId'],
    run: list,
  }),
  'deliveries get': on('store', {
    describe: 'Show a delivery and its attempts, and why it has not arrived; without bodies',
    isRead: true,
    showsPersonal: ({ body }) => body === true,
    args: ONE,
    run: get,
  }),
};

async function list(deps: OperatorDeps, given: Given<typeof LISTED>) {
  const { store, clock } = deps;
  await requireMerchant(deps, given.merchant);
  const { status } = given;
  const filter = { ...logFilterOf(given, clock.wall()), ...(status === undefined ? {} : { status }) };
  const { records, next } = await store.lists.deliveries(given.merchant ?? null, filter).catch(refuseCursor);
  return { items: records.map(deliveryJson), next };
}

async function get(deps: OperatorDeps, { id, body: isWithBody }: Given<typeof ONE>) {
  const { store, clock } = deps;
  const deliveryId = id.toLowerCase();
  const owner = await store.log.ownerOf(deliveryId);
  const found = owner && (await store.log.delivery(owner.merchantId, owner.endpointId, deliveryId));
  if (!found)
    throw new OperatorError(
      `the log has no delivery ${deliveryId}: it was deleted with age, or is not recorded yet; see deliveries list`,
    );
  const { merchantId } = found;
  const merchant = await store.merchants.get(merchantId);
  if (isWithBody) await auditOf(deps)('delivery.show', { deliveryId, eventId: found.eventId }, merchantId);
  return {
    ...deliveryJson(found),
    explanation: explainDelivery(found, merchant?.state === 'paused'),
    bodyRemoved: found.bodyRemoved,
    attempts: found.attempts.map((attempt) => ({
      ...attemptJson(found, attempt, clock),
      ...(isWithBody ? { responseBody: responseBodyOf(found, attempt) } : {}),
    })),
    ...(isWithBody ? { body: found.body && Buffer.from(found.body).toString() } : {}),
  };
}

/** The form for operators: camelCase, as every command prints, and with the merchant. */
function deliveryJson(delivery: DeliveryRecord) {
  const { deliveryId, merchantId, endpointId, eventId, entityId, subjectId, type } = delivery;
  return {
    createdAt: timestamp(delivery.createdAt),
    status: delivery.status,
    type,
    subType: delivery.subType,
    ...{ deliveryId, merchantId, endpointId, eventId, entityId },
    subjectId: subjectId ?? entityId,
    transactionId: transactionIdOf(type, subjectId),
    trigger: delivery.trigger,
    apiVersion: delivery.apiVersion,
    cancelReason: delivery.cancelReason,
    parkedReason: delivery.parkedReason,
    attemptsMade: delivery.attemptsMade,
    attemptsMax: delivery.attemptsMax,
    nextAttemptAt: timestampOrNull(delivery.nextAttemptAt),
    lastAttemptAt: timestampOrNull(delivery.lastAttemptAt),
    lastResponseStatus: delivery.lastResponseStatus,
    lastFailureCode: delivery.lastFailureCode,
  };
}

function attemptJson(delivery: DeliveryRecord, attempt: AttemptRecord, clock: OperatorDeps['clock']) {
  const { number, trigger, startedAt, response } = attempt;
  return {
    number,
    startedAt: timestamp(startedAt),
    durationMs: Math.round(attempt.durationMs),
    responseStatus: response?.status ?? null,
    failureCode: attempt.failureCode,
    failureDetail: attempt.failureDetail,
    nextAttemptAt: timestampOrNull(attempt.nextAttemptAt),
    requestHeaders: redactedHeaders({
      delivery: { ...delivery, trigger, attempt: number },
      startedAt: clock.system(startedAt),
      signature: attempt.signature,
    }),
  };
}

function responseBodyOf({ bodyRemoved }: { readonly bodyRemoved: boolean }, { response }: AttemptRecord) {
  return response === null || bodyRemoved ? null : Buffer.from(response.body).toString();
}
