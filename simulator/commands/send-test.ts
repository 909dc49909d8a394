import { randomUUID } from 'node:crypto';
import { formatDuration } from '../../client/duration.ts';
import { entityKindsOf } from '../../services/domain/catalog/catalog.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import type { MerchantApi, TestAnswer } from '../client/merchant-api.ts';
import { paintStatus } from '../client/timeline.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import type { Output } from '../output.ts';
import { parseEventName } from '../scenario/event-name.ts';
import type { Session } from '../session.ts';
import { deliveryAdvice, notFound } from './delivery-advice.ts';

export interface TestChoices {
  readonly user?: string | undefined;
  readonly corporate?: string | undefined;
  /** Seconds; 0 = do not wait for the result. */
  readonly wait: number;
  /** Whether the prepared secret signs it. */
  readonly prepared?: boolean | undefined;
}

const WAIT_SECONDS_MAX = 30;

/** Sends a test webhook by the API's test operation and prints the result. Throws when it was not delivered. */
export async function sendTest(
  api: MerchantApi,
  endpoint: string,
  eventName: string,
  choices: TestChoices,
  { output }: Session,
): Promise<void> {
  if (!(choices.wait >= 0 && choices.wait <= WAIT_SECONDS_MAX)) {
    throw usage(`--wait must be from 0 to ${WAIT_SECONDS_MAX} seconds`);
  }
  if (choices.user && choices.corporate) throw usage('--user and --corporate cannot be combined');
  const { type, subType } = parseEventName(eventName);
  // The kind of entity that the type allows, if none was given.
  const asUser = choices.corporate === undefined && (choices.user || entityKindsOf(type).includes('USER'));
  const who = asUser
    ? { user_uuid: choices.user ?? randomUUID() }
    : { corporate_uuid: choices.corporate ?? randomUUID() };
  const request = api.testEndpoint(
    endpoint,
    { type, subType, ...who, ...(choices.prepared ? { signed_with: 'prepared' as const } : {}) },
    Math.floor(choices.wait),
  );
  const answer = await output.during(() => 'waiting for the receiver', request);
  output.item(answer, () => describeTest(answer, `${type}/${subType}`, output));
  if (['failed', 'exhausted', 'refused', 'cancelled'].includes(answer.status)) {
    // The result has no detail; the delivery log has it.
    const delivery = await api.delivery(endpoint, answer.delivery_uuid).catch(notFound);
    // The usual advice is about the secret in force.
    const advice = delivery && !choices.prepared ? await deliveryAdvice(api, delivery) : undefined;
    const message = 'the test webhook was not delivered';
    throw new CommandFailure(EXIT.expectation, advice ? `${message}: ${advice.says}` : message, [
      `see the attempt: hookrail sim deliveries get ${answer.delivery_uuid}`,
      ...(advice?.next ?? []),
    ]);
  }
}

function describeTest(answer: TestAnswer, name: string, output: Output): string {
  const parts = [name, paintStatus(answer.status, output)];
  const result = answer.response_status ?? answer.failure_code;
  if (result !== undefined && result !== null) parts.push(String(result));
  if (answer.duration_ms !== undefined && answer.duration_ms !== null)
    parts.push(formatDuration(answer.duration_ms));
  const warnings = answer.warnings.map(({ detail }) => output.paint('yellow', `  note: ${visible(detail)}`));
  return [parts.join('  '), `  delivery ${answer.delivery_uuid}`, ...warnings].join('\n');
}
