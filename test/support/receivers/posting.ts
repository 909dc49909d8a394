import type { DeliveryTask } from '../../../services/domain/task.ts';
import { type DeliverDeps, type DeliverResult, deliver } from '../../../services/sender/deliver.ts';
import type { Pace, Posted, Transport, WebhookRequest } from '../../../services/sender/http/transport.ts';

/** Makes one exchange, and resolves with what came of it. */
export function post(
  transport: Pick<Transport, 'post'>,
  request: WebhookRequest,
  pace?: Pace,
): Promise<Posted> {
  return new Promise((resolve) => transport.post(request, pace, resolve));
}

/** Delivers one task, and resolves with what came of it. */
export function delivered(task: DeliveryTask, deps: DeliverDeps): Promise<DeliverResult> {
  return new Promise((made, failed) => deliver(task, deps, { made, failed }));
}
