import type { FailureCode } from '../../services/domain/attempt.ts';
import type { EndpointStatus } from '../../services/domain/endpoint.ts';
import {
  type EndpointVerdict,
  judgeEndpoint,
  type Side,
  type Waiting,
} from '../../services/domain/failures/endpoint-verdict.ts';
import type { ParkedReason } from '../../services/domain/task.ts';
import type { Delivery, Endpoint } from '../api/shapes.ts';
import { Outcome, Sentence, type Tone } from '../parts/text.tsx';
import type { Owed } from './endpoint-reads.ts';

const SIDES: Readonly<Record<Side, readonly [tone: Tone, says: string]>> = {
  healthy: ['good', 'healthy'],
  idle: ['none', 'nothing yet'],
  off: ['none', 'disabled'],
  yours: ['bad', 'yours'],
  network: ['bad', 'the network'],
  ours: ['wait', 'ours'],
};

const timeOf = (at: string | null) => (at === null ? null : Date.parse(at));

function waitingOf(delivery: Delivery): Waiting {
  const { last_failure_code: code, last_response_status: responseStatus } = delivery;
  return {
    // The texts of the API are those of the domain, of which this build knows all.
    parkedReason: delivery.held ? 'merchant_paused' : (delivery.parked_reason as ParkedReason | null),
    nextAttemptAt: timeOf(delivery.next_attempt_at),
    lastAttemptAt: timeOf(delivery.last_attempt_at),
    lastFailure: code === null ? null : { code: code as FailureCode, responseStatus },
  };
}

/** Returns the verdict on an endpoint, by what is owed to it or to all endpoints. */
function verdictOf(endpoint: Endpoint, owed: Owed): EndpointVerdict {
  const { last_failure: failure } = endpoint;
  const isOwn = ({ endpoint_uuid: uuid }: Delivery) => uuid === endpoint.uuid;
  const proofs = owed.arrived.filter((one) => isOwn(one) && ['test', 'manual'].includes(one.trigger));
  const waiting = owed.waiting.filter(isOwn);
  return judgeEndpoint({
    status: endpoint.status as EndpointStatus,
    offSince: timeOf(endpoint.disabled_at),
    offReason: endpoint.disabled_reason,
    failureCount: endpoint.failure_count,
    lastSuccessAt: timeOf(endpoint.last_success_at),
    lastFailureAt: timeOf(endpoint.last_failure_at),
    lastFailure:
      failure === null
        ? null
        : { code: failure.code as FailureCode, responseStatus: failure.response_status },
    provedAt: Math.max(0, ...proofs.map(({ last_attempt_at: at }) => timeOf(at) ?? 0)) || null,
    waiting: waiting.map(waitingOf),
    hasMore: owed.hasMore && waiting.length > 0,
  });
}

/** Whose fault it is, then what happens, then what helps. */
export function Verdict({ endpoint, owed }: { readonly endpoint: Endpoint; readonly owed: Owed }) {
  const { side, says: sentences, remedy } = verdictOf(endpoint, owed);
  const [tone, says] = SIDES[side];
  return (
    <p className="row from-top whose">
      <Outcome tone={tone}>{says}</Outcome>{' '}
      <span>
        <Sentence text={sentences} /> <span className="kind">{remedy}</span>
      </span>
    </p>
  );
}

/** Returns how many deliveries wait. */
export function waitingWords(owed: Owed | undefined): string {
  return owed === undefined ? '…' : `${owed.waiting.length}${owed.hasMore ? ' or more' : ''}`;
}

/** Returns which types an endpoint gets, in a word or two. */
export function filterOf({ kind, subscribed_events: types }: Endpoint): string {
  if (types === null) return kind === 'operational' ? 'all notices' : 'all types';
  return types.length === 1 ? `only ${types[0]}` : `${types.length} types`;
}
