import type { EndpointChangeKind, FeedAttempt, FeedContent, FeedDelivery } from '../feed.ts';
import { API_VERSION, CANCEL_REASON, EVENT_TYPE, FAILURE_CODE, SKIP_REASON, TRIGGER } from './codes.ts';
import { FEED_KIND } from './log-rows.ts';
import type { TraceLine } from './trace-lines.ts';

/** A row of the feed, without what it refers to. */
export interface FeedRow {
  readonly seq: number;
  readonly kind: number;
  readonly detail: number | null;
  readonly at: number;
}

export interface EventHead {
  readonly eventId: string;
  readonly entityId: string;
  readonly subjectId: string | null;
  readonly sequence: number;
  readonly type: number;
  readonly subType: string;
}

export interface DeliveryHead extends EventHead {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly apiVersion: number;
  readonly trigger: number;
}

export interface AttemptOfDelivery extends DeliveryHead {
  readonly number: number;
  readonly attemptsMax: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly failureCode: number | null;
  readonly failureDetail: string | null;
  readonly nextAttemptAt: number | null;
}

export interface AuditOfEndpoint {
  readonly endpointId: string;
  readonly action: string;
  readonly details: string;
}

/** The bodies of a row's deliveries. `of`: the one in a version; a delivery that was requested has one only. */
export interface BodiesOfRow {
  readonly isRemoved: boolean;
  of(apiVersion: number): Buffer | undefined;
}

/** The thing that a row of the feed refers to, as it is now. All fields are absent when it was deleted. */
export interface FeedReference {
  /** Where they were asked for. */
  readonly bodies?: BodiesOfRow;
  readonly event?: EventHead & { readonly lines: readonly TraceLine[] };
  readonly delivery?: DeliveryHead;
  readonly attempt?: AttemptOfDelivery;
  readonly audit?: AuditOfEndpoint;
}

/** Returns what a row reports, undefined when that was deleted. */
export function feedContents(
  { kind, detail }: FeedRow,
  { event, delivery, attempt, audit, bodies }: FeedReference,
  endpointName: (endpoint: number) => string,
): readonly FeedContent[] | undefined {
  switch (kind) {
    case FEED_KIND.routed:
      return (
        event &&
        toRouting(event, event.lines.slice(0, detail ?? event.lines.length), { endpointName, bodies })
      );
    case FEED_KIND.line: {
      const line = event?.lines[detail ?? 0];
      return event && line && [toLine(event, line, { endpointName, bodies })];
    }
    case FEED_KIND.endpoint:
      return audit && [toEndpointChanged(audit)];
    case FEED_KIND.attempt:
      return attempt && [toAttempted(attempt)];
    case FEED_KIND.requested:
      return (
        delivery && [
          { kind: 'routed', delivery: toFeedDelivery(delivery), ...sentOf(bodies, delivery.apiVersion) },
        ]
      );
    default:
      return (
        delivery && [
          { kind: 'cancelled', delivery: toFeedDelivery(delivery), reason: CANCEL_REASON.word(detail ?? 0) },
        ]
      );
  }
}

function toHead({ eventId, entityId, subjectId, sequence, type, subType }: EventHead) {
  return { eventId, entityId, subjectId, sequence, type: EVENT_TYPE.word(type), subType };
}

function toFeedDelivery(head: DeliveryHead): FeedDelivery {
  const { deliveryId, endpointId } = head;
  return {
    ...toHead(head),
    deliveryId,
    endpointId,
    apiVersion: API_VERSION.word(head.apiVersion),
    trigger: TRIGGER.word(head.trigger),
  };
}

/** The events and endpoints that the lines of a routing refer to. */
interface LineDeps {
  readonly endpointName: (endpoint: number) => string;
  readonly bodies: BodiesOfRow | undefined;
}

function sentOf(bodies: BodiesOfRow | undefined, apiVersion: number) {
  if (bodies === undefined) return {};
  const body = bodies.isRemoved ? undefined : bodies.of(apiVersion);
  return { sent: { body: body?.toString() ?? null, bodyRemoved: bodies.isRemoved } };
}

/** The lines of a routing as they were: a line that was sent later says why it was skipped at first. */
function toRouting(row: EventHead, lines: readonly TraceLine[], deps: LineDeps): FeedContent[] {
  const event = toHead(row);
  if (lines.length === 0) return [{ kind: 'skipped', event, endpointId: null, reason: 'no_endpoint' }];
  return lines.map((line) => {
    const endpointId = deps.endpointName(line[0]);
    const skipped = line.length === 2 ? line[1] : line[5];
    if (skipped !== undefined)
      return { kind: 'skipped', event, endpointId, reason: SKIP_REASON.word(skipped) };
    return toRouted(event, endpointId, line as DeliveredLine, deps);
  });
}

type DeliveredLine = Extract<TraceLine, readonly [number, 0, string, number, ...unknown[]]>;

/** A line as it is now: what a repeated routing has made of it. */
function toLine(row: EventHead, line: TraceLine, deps: LineDeps): FeedContent {
  const [event, endpointId] = [toHead(row), deps.endpointName(line[0])];
  if (line.length === 2) return { kind: 'skipped', event, endpointId, reason: SKIP_REASON.word(line[1]) };
  return toRouted(event, endpointId, line, deps);
}

function toRouted(
  event: ReturnType<typeof toHead>,
  endpointId: string,
  line: DeliveredLine,
  { bodies }: LineDeps,
): FeedContent {
  const apiVersion = API_VERSION.word(line[3]);
  return {
    kind: 'routed',
    delivery: { ...event, deliveryId: line[2], endpointId, apiVersion, trigger: 'live' },
    ...sentOf(bodies, line[3]),
  };
}

function toAttempted(row: AttemptOfDelivery): FeedContent {
  const { number, attemptsMax, startedAt, durationMs, responseStatus, failureDetail, nextAttemptAt } = row;
  const failureCode = row.failureCode === null ? null : FAILURE_CODE.word(row.failureCode);
  const attempt: FeedAttempt = {
    number,
    attemptsMax,
    outcome: outcomeOf(failureCode, nextAttemptAt),
    startedAt,
    durationMs,
    responseStatus,
    failureCode,
    failureDetail,
    nextAttemptAt,
  };
  return { kind: 'attempt', delivery: toFeedDelivery(row), attempt };
}

function outcomeOf(
  failureCode: FeedAttempt['failureCode'],
  nextAttemptAt: number | null,
): FeedAttempt['outcome'] {
  if (failureCode === null) return 'delivered';
  if (nextAttemptAt !== null) return 'retry';
  return failureCode === 'endpoint_gone' ? 'refused' : 'exhausted';
}

const CHANGE_OF_ACTION: Readonly<Record<string, EndpointChangeKind>> = {
  'endpoint.create': 'created',
  'endpoint.update': 'updated',
  'endpoint.rotate': 'secret_rotated',
  'endpoint.delete': 'deleted',
  'endpoint.auto_disable': 'auto_disabled',
  'endpoint.adopt': 'restored',
};

function toEndpointChanged(row: AuditOfEndpoint): FeedContent {
  const change = CHANGE_OF_ACTION[row.action] ?? 'updated';
  const { status } = JSON.parse(row.details) as { readonly status?: string };
  const given = change === 'auto_disabled' ? 'auto_disabled' : (status ?? null);
  return { kind: 'endpoint_changed', endpointId: row.endpointId, change, status: given };
}
