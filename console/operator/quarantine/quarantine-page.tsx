import { Foreign } from '../../parts/foreign.tsx';
import { inWords } from '../../parts/outcome.tsx';
import { shortId } from '../../parts/short-id.ts';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { useFilters } from '../parts/address.ts';
import { MerchantName, ProducerName } from '../parts/names.tsx';
import { Panel } from '../parts/screen.tsx';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { Summary } from '../shapes.ts';
import { Replay } from './replay.tsx';
import type { Quarantined } from './shapes.ts';

const PAGE = 200;

/** "What is wrong with these 312, and may I put them back?" */
export function QuarantinePage() {
  useTitle('Quarantine');
  const [{ reason }, set] = useFilters();
  const summary = useCommand<readonly Summary[]>('quarantine-summary');
  const records = useCommand<readonly Quarantined[]>('quarantine-list', {
    limit: PAGE,
    ...(reason === undefined ? {} : { reason }),
  });
  return (
    <>
      <section className="panel">
        <h1>Quarantine</h1>
        <Shown query={summary}>
          {(list) =>
            list.length === 0 ? (
              <p>It is empty: every event could be routed.</p>
            ) : (
              <ul className="lines reasons">
                {list.map(({ reason: each, count, oldest, newest }) => (
                  <li key={each}>
                    <button
                      type="button"
                      aria-pressed={each === reason}
                      onClick={() => set('reason', each === reason ? '' : each)}
                    >
                      {count} {inWords(each)}
                    </button>
                    <span className="note">
                      <Time at={oldest} /> to <Time at={newest} />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
        <p className="note">
          Records stay for 30 days. <Way to="/runbook/HookrailQuarantined">What to do</Way>
        </p>
        {reason === undefined ? null : (
          <Replay key={reason} label={`Put all back: ${inWords(reason)}`} given={{ reason }} />
        )}
      </section>
      <Shown query={records}>
        {(list) => (
          <>
            <Producers list={list} />
            <Records list={list} />
          </>
        )}
      </Shown>
    </>
  );
}

/** Counts the records by producer: one that published many has something to correct. */
function Producers({ list }: { readonly list: readonly Quarantined[] }) {
  const names = [...new Set(list.map(({ publishedBy }) => publishedBy))];
  if (list.length === 0) return null;
  return (
    <Panel title="Producers of these records">
      <ul className="lines">
        {names.map((name) => (
          <li key={name ?? ''}>
            <span>
              <ProducerName publishedBy={name} />
            </span>{' '}
            {list.filter(({ publishedBy }) => publishedBy === name).length}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Records({ list }: { readonly list: readonly Quarantined[] }) {
  if (list.length === 0) return null;
  return (
    <Panel title={list.length < PAGE ? `${list.length} records` : `The oldest ${PAGE} records`}>
      <Table label="Records" columns={['Since', 'What is wrong', 'Event', 'Merchant']}>
        {list.map(({ position, at, title, detail, eventId, merchantId }) => (
          <tr key={position}>
            <td>
              <Time at={at} />
            </td>
            <th scope="row">
              <Way to={`/quarantine/${encodeURIComponent(position)}`}>
                <Foreign text={title} />
              </Way>
              <div className="note">
                <Foreign text={detail} />
              </div>
            </th>
            <td title={eventId ?? undefined}>{eventId === null ? '–' : shortId(eventId)}</td>
            <td>{merchantId === null ? '–' : <MerchantName id={merchantId} />}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
