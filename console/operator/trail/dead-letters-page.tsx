import { inWords } from '../../parts/outcome.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { MerchantName } from '../parts/names.tsx';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { Summary } from '../shapes.ts';

interface DeadLetter {
  readonly position: string;
  readonly at: string;
  readonly reason: string;
  readonly failureCode: string | null;
  readonly deliveryId: string;
  readonly merchantId: string;
  readonly type: string;
  readonly subType: string;
}

const PAGE = 100;

/** Deliveries that were given up: seven failures, or refused. */
export function DeadLettersPage() {
  useTitle('Dead letters');
  const summary = useCommand<readonly Summary[]>('dead-letters-summary');
  const letters = useCommand<readonly DeadLetter[]>('dead-letters-list', { limit: PAGE });
  return (
    <section className="panel">
      <h1>Dead letters</h1>
      <p>
        Deliveries that failed seven times, or were refused. <Way to="/replays">A replay</Way> of what failed
        sends them again. <Way to="/runbook/HookrailDeadLetters">What to do</Way>
      </p>
      <Shown query={summary}>
        {(list) => (
          <ul className="lines">
            {list.map(({ reason, count, newest }) => (
              <li key={reason}>
                <strong>{inWords(reason)}</strong> {count}
                <span className="note">
                  newest <Time at={newest} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <Shown query={letters}>
        {(list) =>
          list.length === 0 ? (
            <p>There is none.</p>
          ) : (
            <Table
              label="Dead letters, oldest first"
              columns={['Given up', 'Delivery', 'Merchant', 'Reason', 'Failure']}
            >
              {list.map((letter) => (
                <tr key={letter.position}>
                  <td>
                    <Time at={letter.at} />
                  </td>
                  <th scope="row">
                    <Way to={`/deliveries/${letter.deliveryId}`}>
                      {letter.type}/{letter.subType}
                    </Way>
                  </th>
                  <td>
                    <MerchantName id={letter.merchantId} />
                  </td>
                  <td>{inWords(letter.reason)}</td>
                  <td>{letter.failureCode ?? '–'}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
    </section>
  );
}
