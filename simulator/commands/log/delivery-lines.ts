import { formatCountdown } from '../../../client/duration.ts';
import { type EndpointNames, endpointJson } from '../../client/endpoint-names.ts';
import type { DeliveryAnswer } from '../../client/merchant-api.ts';
import { clockTime, paintStatus } from '../../client/timeline.ts';
import type { Output } from '../../output.ts';
import { shortened } from '../../scenario/live-lines.ts';
import { shortId } from '../wait-end.ts';

/** Returns a delivery of a list for scripts: as the API has it, with the endpoint's description and URL. */
export function deliveryItem(delivery: DeliveryAnswer, names: EndpointNames) {
  return { ...delivery, endpoint: endpointJson(names.of(delivery.endpoint_uuid)) };
}

/** Returns the line of a delivery in a list; `now` is the service's time. */
export function deliveryLine(
  delivery: DeliveryAnswer,
  names: EndpointNames,
  output: Output,
  now: number,
): string {
  const { label, isOnly } = names.of(delivery.endpoint_uuid);
  const last = delivery.last_response_status ?? delivery.last_failure_code;
  const made = `${delivery.attempts_made}/${delivery.attempts_max}`;
  const cells = [
    `${output.paint('dim', clockTime(delivery.created_at, now, 'seconds'))}  ${shortId(delivery.delivery_uuid)}  ${delivery.type}/${delivery.subType}`,
    `${paintStatus(delivery.status, output)} ${made}`,
  ];
  if (last !== null) cells.push(String(last));
  if (!isOnly) cells.push(shortened(label));
  if (delivery.trigger !== 'live') cells.push(delivery.trigger);
  if (delivery.next_attempt_at !== null && delivery.attempts_made > 0) {
    const waitMs = Date.parse(delivery.next_attempt_at) - now;
    cells.push(waitMs > 0 ? `next in ${formatCountdown(waitMs)}` : 'next is due');
  }
  return output.row(cells);
}
