import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Endpoint } from '../api/shapes.ts';
import { labelOf } from '../parts/endpoint-name.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Loading } from '../parts/loading.tsx';
import { Time } from '../parts/time.tsx';
import { useTitle } from '../parts/title.ts';
import { SecretAge } from './change/secret-age.tsx';
import { StateChange } from './change/state-change.tsx';
import { EndpointFrame } from './endpoint-frame.tsx';
import { owedQuery } from './endpoint-reads.ts';
import { AttemptNumbers } from './health/attempt-numbers.tsx';
import { DisableRule } from './health/disable-rule.tsx';
import { NewestDeliveries } from './health/newest-deliveries.tsx';
import { Verdict, verdictOf } from './verdict.tsx';

/** Health of an endpoint: whose fault it is, the numbers, and what was sent last. */
export function EndpointPage() {
  const { endpoint: uuid } = useParams({ from: '/endpoints/$endpoint' });
  return <EndpointFrame uuid={uuid}>{(endpoint) => <Health key={uuid} endpoint={endpoint} />}</EndpointFrame>;
}

function Health({ endpoint }: { readonly endpoint: Endpoint }) {
  const { data: owed, error, refetch } = useQuery(owedQuery(endpoint.uuid));
  useTitle(labelOf(endpoint));
  return (
    <>
      <section className="panel">
        <h2>Is it me?</h2>
        {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
        {owed === undefined ? error ? null : <Loading /> : <Verdict verdict={verdictOf(endpoint, owed)} />}
        <dl className="numbers">
          <div>
            <dt>deliveries that wait</dt>
            <dd>{owed === undefined ? '…' : `${owed.waiting.length}${owed.hasMore ? ' or more' : ''}`}</dd>
          </div>
          <div>
            <dt>last success</dt>
            <dd>{endpoint.last_success_at === null ? 'none' : <Time at={endpoint.last_success_at} />}</dd>
          </div>
          <div>
            <dt>last failure</dt>
            <dd>{endpoint.last_failure_at === null ? 'none' : <Time at={endpoint.last_failure_at} />}</dd>
          </div>
          <div>
            <dt>secret</dt>
            <dd>
              <Link to="/endpoints/$endpoint/$part" params={{ endpoint: endpoint.uuid, part: 'secret' }}>
                <SecretAge endpoint={endpoint} />
              </Link>
            </dd>
          </div>
        </dl>
        <DisableRule endpoint={endpoint} />
      </section>
      <AttemptNumbers uuid={endpoint.uuid} />
      <NewestDeliveries uuid={endpoint.uuid} />
      <StateChange endpoint={endpoint} waiting={owed?.waiting.length ?? 0} />
    </>
  );
}
