import { Button } from '../../parts/controls.tsx';
import { Panel, Screen, Shown, Table, Way } from '../../parts/screen.tsx';
import { foreign, Time } from '../../parts/text.tsx';
import { inWords, shortId } from '../../parts/words.ts';
import { useCommand, useFilters } from '../api.ts';
import { MerchantName, ProducerName } from '../names.tsx';
import type { Quarantined } from '../shapes.ts';
import { Replay } from './replay.tsx';

const PAGE = 200;

/** "What is wrong with these 312, and may I put them back?" */
export function QuarantinePage() {
  const [{ reason }, set] = useFilters();
  const summary = useCommand('quarantine-summary');
  const records = useCommand('quarantine-list', { limit: PAGE, reason });
  return (
    <>
      <Screen title="Quarantine">
        <Shown query={summary}>
          {(list) =>
            list.length === 0 ? (
              <p>It is empty: every event could be routed.</p>
            ) : (
              <ul className="lines">
                {list.map(({ reason: each, count, oldest, newest }) => (
                  <li key={each}>
                    <Button
                      aria-pressed={each === reason}
                      onClick={() => set('reason', each === reason ? '' : each)}
                    >
                      {count} {inWords(each)}
                    </Button>
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
      </Screen>
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
      <Table
        label="Records"
        rows={list}
        keyOf={({ position }) => position}
        names="what is wrong"
        columns={{
          since: ({ at }) => <Time at={at} />,
          'what is wrong': ({ position, title, detail }) => (
            <>
              <Way to={`/quarantine/${encodeURIComponent(position)}`}>{foreign(title)}</Way>
              <div className="note">{foreign(detail)}</div>
            </>
          ),
          event: ({ eventId }) => (eventId === null ? '–' : <span title={eventId}>{shortId(eventId)}</span>),
          merchant: ({ merchantId }) => <MerchantName id={merchantId} />,
        }}
      />
    </Panel>
  );
}
