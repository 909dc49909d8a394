import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatDuration } from '../../../client/duration.ts';
import { useSession } from '../../api/session.ts';
import type { Delivery, Endpoint } from '../../api/shapes.ts';
import { DeliveryLink } from '../../parts/endpoint.tsx';
import { Panel, Shown } from '../../parts/screen.tsx';
import { Countdown, Outcome, Time, Trigger, toneOf, useNow } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { SecretAge } from '../change/secret.tsx';
import { StateChange } from '../change/state-change.tsx';
import { failedFirst } from '../counts.ts';
import { newestQuery, owedQuery } from '../endpoint-reads.ts';
import { Numbers } from '../shown.tsx';
import { Verdict, waitingWords } from '../verdict.tsx';
import { AttemptNumbers } from './attempt-numbers.tsx';
import { Reach } from './reach.tsx';

const timeOr = (at: string | null) => (at === null ? 'none' : <Time at={at} />);

/** Health of an endpoint: whose fault it is, the numbers, and what was sent last. */
export function Health({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid } = endpoint;
  const owed = useQuery(owedQuery(uuid));
  return (
    <>
      <Panel title="Is it me?">
        <Shown query={owed}>{(found) => <Verdict endpoint={endpoint} owed={found} />}</Shown>
        <Numbers
          all={{
            'deliveries that wait': waitingWords(owed.data),
            'last success': timeOr(endpoint.last_success_at),
            'last failure': timeOr(endpoint.last_failure_at),
            secret: (
              <Link to="/endpoints/$endpoint/$part" params={{ endpoint: uuid, part: 'secret' }}>
                <SecretAge endpoint={endpoint} />
              </Link>
            ),
          }}
        />
        <DisableRule endpoint={endpoint} />
      </Panel>
      <Reach endpoint={endpoint} />
      <AttemptNumbers uuid={uuid} />
      <NewestDeliveries uuid={uuid} />
      <StateChange endpoint={endpoint} waiting={owed.data} />
    </>
  );
}

const HOUR_MS = 3_600_000;

/** Shows how near a failing endpoint is to being disabled: both bars must be full, and a delivery given up. */
function DisableRule({ endpoint }: { readonly endpoint: Endpoint }) {
  const now = useNow();
  const rule = useSession()?.auto_disable;
  const { failure_count: failed, status, last_success_at: success, updated_at: changed } = endpoint;
  if (rule === undefined || status !== 'active' || failed === 0) return null;
  const withoutMs = now - Date.parse(success !== null && success > changed ? success : changed);
  const hoursMs = rule.without_success_hours * HOUR_MS;
  const bars = [
    ['without a success or a change of the endpoint', Math.max(0, withoutMs), hoursMs, formatDuration],
    ['failed attempts in a row', failed, rule.failed_attempts, String],
  ] as const;
  return (
    <div className="stack rule">
      <p>
        hookrail disables the endpoint when both of these are full, and a delivery has used all its attempts:
      </p>
      {bars.map(([says, value, max, words]) => (
        <label key={says}>
          <span>{says}</span>
          <progress max={max} value={value} />
          <span>
            {words(value)} of {words(max)}
          </span>
        </label>
      ))}
    </div>
  );
}

const SHOWN = 12;

/** The newest deliveries, those that failed first. */
function NewestDeliveries({ uuid }: { readonly uuid: string }) {
  const query = useQuery(newestQuery(uuid));
  return (
    <section className="panel">
      <div className="row apart">
        <h2>Deliveries, failed ones first</h2>
        <span>
          <Link to="/live" search={{ endpoint: uuid }}>
            All of them in Live
          </Link>
          {' · '}
          <Link to="/missed" search={{ endpoint: uuid }}>
            What it missed
          </Link>
        </span>
      </div>
      <Shown query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="note">Nothing was sent to it yet. Send a test, or wait for an event.</p>
          ) : (
            <ul className="lines">{failedFirst(data).slice(0, SHOWN).map(line)}</ul>
          )
        }
      </Shown>
    </section>
  );
}

function line(delivery: Delivery) {
  const { delivery_uuid: id, endpoint_uuid: endpoint, status, trigger, next_attempt_at: next } = delivery;
  const answer = delivery.last_response_status ?? delivery.last_failure_code;
  return (
    <li key={id}>
      <DeliveryLink endpoint={endpoint} id={id}>
        {delivery.type}/{delivery.subType}
      </DeliveryLink>
      <Outcome tone={toneOf(status)}>{[inWords(status), answer ?? []].flat().join(' · ')}</Outcome>
      <Trigger of={trigger} />
      <span className="note">
        <Time at={delivery.last_attempt_at ?? delivery.created_at} />
        {next === null ? null : ' · again '}
        {next === null ? null : <Countdown to={next} />}
      </span>
    </li>
  );
}
