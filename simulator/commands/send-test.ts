import { randomUUID } from 'node:crypto';
import { formatDuration } from '../../client/duration.ts';
import { entityKindsOf } from '../../services/domain/catalog/catalog.ts';
import { isNoticeType } from '../../services/domain/notices/notice.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import type { MerchantApi, TestAnswer } from '../client/merchant-api.ts';
import { paintStatus } from '../client/timeline.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import type { Output } from '../output.ts';
import { type EventName, type NoticeName, parseWebhookName } from '../scenario/event-name.ts';
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

/** The defaults of --event: of endpoints for events, and of operational ones. */
const USUAL = 'fiatToCrypto/SUCCESS';
const USUAL_NOTICE = 'endpoint.failing/AT_50';

/** Sends a test webhook by the API's test operation and prints the result. Throws when it was not delivered. */
export async function sendTest(
  api: MerchantApi,
  endpoint: string,
  eventName: string | undefined,
  choices: TestChoices,
  { output }: Session,
): Promise<void> {
  if (!(choices.wait >= 0 && choices.wait <= WAIT_SECONDS_MAX)) {
    throw usage(`--wait must be from 0 to ${WAIT_SECONDS_MAX} seconds`);
  }
  if (choices.user && choices.corporate) throw usage('--user and --corporate cannot be combined');
  const named = parseWebhookName(eventName ?? (await usualFor(api, endpoint)));
  const { type, subType } = named;
  const signed = choices.prepared ? { signed_with: 'prepared' as const } : {};
  const body = { type, subType, ...aboutOf(named, choices), ...signed };
  const request = api.testEndpoint(endpoint, body, Math.floor(choices.wait));
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

/** Returns the default of --event. The single webhook of version 2.2.8 is in no list, and gets events. */
async function usualFor(api: MerchantApi, endpoint: string): Promise<string> {
  return (await api.endpoint(endpoint).catch(notFound))?.kind === 'operational' ? USUAL_NOTICE : USUAL;
}

/** Returns the user or corporate of a test: a generated one when none is given, and none for a notice. */
function aboutOf({ type }: EventName | NoticeName, { user, corporate }: TestChoices) {
  if (isNoticeType(type)) {
    if (user ?? corporate) throw usage(`${type} concerns no user and no corporate: leave them out`);
    return {};
  }
  const asUser = corporate === undefined && (user || entityKindsOf(type).includes('USER'));
  return asUser ? { user_uuid: user ?? randomUUID() } : { corporate_uuid: corporate ?? randomUUID() };
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
