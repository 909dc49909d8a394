import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Endpoint } from '../../api/shapes.ts';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { SecretAge } from '../change/secret.tsx';
import { StateChange } from '../change/state-change.tsx';
import { owedQuery } from '../endpoint-reads.ts';
import { Numbers } from '../shown.tsx';
import { Verdict, waitingWords } from '../verdict.tsx';
import { AttemptNumbers } from './attempt-numbers.tsx';
import { DisableRule } from './disable-rule.tsx';
import { NewestDeliveries } from './newest-deliveries.tsx';
import { Reach } from './reach.tsx';

const timeOr = (at: string | null) => (at === null ? 'none' : <Time at={at} />);

/** Health of an endpoint: whose fault it is, the numbers, and what was sent last. */
export function Health({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid } = endpoint;
  const owed = useQuery(owedQuery(uuid));
  return (
    <>
      <section className="panel">
        <h2>Is it me?</h2>
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
      </section>
      <Reach endpoint={endpoint} />
      <AttemptNumbers uuid={uuid} />
      <NewestDeliveries uuid={uuid} />
      <StateChange endpoint={endpoint} waiting={owed.data} />
    </>
  );
}
