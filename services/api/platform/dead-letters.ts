import type { RequestHandler } from 'express';
import type { DeadLetter } from '../../domain/journal.ts';
import type { ApiContext } from '../context.ts';
import { timestamp } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { queryOf } from '../pagination.ts';
import { merchantIn } from './lists.ts';
import { recordPage } from './record-pages.ts';

/** GET /platform/dead-letters: deliveries that are over without a 2xx, oldest first. */
export function listDeadLetters(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const merchantId = await merchantIn(context, query);
    const matches = ({ task }: DeadLetter) => merchantId === null || task.merchantId === merchantId;
    const options = { matches, itemOf: deadLetterJson };
    sendJson(response, 200, await recordPage(context.broker.deadLetters, query, options));
  };
}

/** Returns a dead letter without its body: it holds personal data. */
function deadLetterJson(position: string, { task, reason, failureCode, at }: DeadLetter) {
  const { deliveryId, eventId, merchantId, endpointId, type, subType, attempt } = task;
  return {
    dead_letter_id: position,
    ended_at: timestamp(at),
    merchant_id: merchantId,
    reason,
    failure_code: failureCode,
    attempts_made: attempt,
    delivery_uuid: deliveryId,
    endpoint_uuid: endpointId,
    event_uuid: eventId,
    type,
    subType,
  };
}
