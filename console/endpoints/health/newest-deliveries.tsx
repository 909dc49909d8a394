import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Delivery } from '../../api/shapes.ts';
import { inWords, Outcome, toneOf, triggerOf } from '../../parts/outcome.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Countdown, Time } from '../../parts/time.tsx';
import { failedFirst } from '../counts.ts';
import { newestQuery } from '../endpoint-reads.ts';

const SHOWN = 12;

/** The newest deliveries, those that failed first. */
export function NewestDeliveries({ uuid }: { readonly uuid: string }) {
  const query = useQuery(newestQuery(uuid));
  return (
    <section className="panel">
      <div className="endpoint-head">
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
      <Link to="/endpoints/$endpoint/deliveries/$id" params={{ endpoint, id }}>
        {delivery.type}/{delivery.subType}
      </Link>
      <Outcome tone={toneOf(status)}>{[inWords(status), answer ?? []].flat().join(' · ')}</Outcome>
      {trigger === 'live' ? null : <span className="chip">{triggerOf(trigger)}</span>}
      <span className="note">
        <Time at={delivery.last_attempt_at ?? delivery.created_at} />
        {next === null ? null : ' · again '}
        {next === null ? null : <Countdown to={next} />}
      </span>
    </li>
  );
}
