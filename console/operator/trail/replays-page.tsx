import { type FormEvent, useState } from 'react';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { inWords, Outcome } from '../../parts/outcome.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useChange, useCommand } from '../api.ts';
import { MerchantName } from '../parts/names.tsx';
import { Panel } from '../parts/screen.tsx';
import { Table } from '../parts/table.tsx';
import type { Merchant } from '../shapes.ts';

interface Replay {
  readonly replayId: string;
  readonly status: string;
  readonly count: number;
  readonly published: number;
  readonly merchantId: string | null;
  readonly only: string;
  readonly since: string;
  readonly until: string;
  readonly createdAt: string;
}

/** The period is the one that was counted, in times. */
interface DryRun {
  readonly since: string;
  readonly until: string;
  readonly count: number;
  readonly byType: Readonly<Record<string, number>>;
}

const EVERY_MS = 3000;

/** "Is everybody whole again?" */
export function ReplaysPage() {
  useTitle('Replays');
  const replays = useCommand<readonly Replay[]>('replay-list', {}, { everyMs: EVERY_MS });
  const cancel = useChange('replay-cancel');
  return (
    <>
      <Start />
      <Panel title="Replays">
        {cancel.error ? <ErrorPanel error={cancel.error} /> : null}
        <Shown query={replays}>
          {(list) =>
            list.length === 0 ? (
              <p>There was none.</p>
            ) : (
              <Table
                label="Replays"
                columns={['Started', 'Merchant', 'Events', 'Period', 'Status', 'Progress', '']}
              >
                {list.map((replay) => (
                  <Row
                    key={replay.replayId}
                    replay={replay}
                    cancel={() => cancel.mutate({ id: replay.replayId })}
                  />
                ))}
              </Table>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

function Row({ replay, cancel }: { readonly replay: Replay; readonly cancel: () => void }) {
  const { replayId, createdAt, merchantId, only, since, until, status, published, count } = replay;
  return (
    <tr>
      <th scope="row" title={replayId}>
        <Time at={createdAt} />
      </th>
      <td>{merchantId === null ? 'all' : <MerchantName id={merchantId} />}</td>
      <td>{only}</td>
      <td>
        <Time at={since} /> to <Time at={until} />
      </td>
      <td>
        <Outcome tone={status === 'completed' ? 'good' : status === 'running' ? 'wait' : 'none'}>
          {inWords(status)}
        </Outcome>
      </td>
      <td>
        {published} of {count}
      </td>
      <td>
        {status === 'running' ? (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        ) : null}
      </td>
    </tr>
  );
}

const KINDS = [
  ['missing', 'given up, skipped or cancelled'],
  ['failed', 'given up'],
  ['all', 'everything, also what arrived'],
] as const;

interface Scope {
  readonly since: string;
  readonly until: string;
  readonly only: string;
  readonly merchant: string;
}

/** Counts first; only what was counted can be started. */
function Start() {
  const [scope, setScope] = useState<Scope>({ since: '2h', until: '', only: 'missing', merchant: '' });
  const count = useChange<DryRun>('replay-start');
  const start = useChange<Replay>('replay-start');
  const set = (change: Partial<Scope>) => {
    setScope({ ...scope, ...change });
    count.reset();
    start.reset();
  };
  const given = Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== ''));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.reset();
    count.mutate({ ...given, dryRun: true });
  };
  const error = count.error ?? start.error;
  return (
    <section className="panel">
      <h1>Replay after an incident</h1>
      <form className="act" onSubmit={submit}>
        <Fields scope={scope} set={set} />
        <button type="submit" disabled={count.isPending}>
          {count.isPending ? 'Counting…' : 'Count'}
        </button>
      </form>
      <p className="note">Since and until: 30m, 2h or 7d ago, or a time such as 2030-01-31T08:00:00Z.</p>
      {error ? <ErrorPanel error={error} /> : null}
      {count.data === undefined || start.data !== undefined ? null : (
        <div role="status">
          <p>
            A replay would send <strong>{count.data.count}</strong>{' '}
            {count.data.count === 1 ? 'event' : 'events'}
            {count.data.count === 0
              ? '.'
              : `: ${Object.entries(count.data.byType)
                  .map(([type, events]) => `${events} ${type}`)
                  .join(', ')}.`}
          </p>
          {count.data.count === 0 ? null : (
            <button
              type="button"
              className="primary"
              disabled={start.isPending}
              onClick={() => start.mutate({ ...given, since: count.data.since, until: count.data.until })}
            >
              Start the replay
            </button>
          )}
        </div>
      )}
      {start.data === undefined ? null : <p role="status">The replay has started: its progress is below.</p>}
    </section>
  );
}

function Fields({ scope, set }: { readonly scope: Scope; readonly set: (change: Partial<Scope>) => void }) {
  const merchants = useCommand<readonly Merchant[]>('merchants-list');
  return (
    <>
      <label>
        Since
        <input
          value={scope.since}
          onChange={(event) => set({ since: event.target.value })}
          required
          autoComplete="off"
          placeholder="2h, or a time"
        />
      </label>
      <label>
        Until
        <input
          value={scope.until}
          onChange={(event) => set({ until: event.target.value })}
          autoComplete="off"
          placeholder="now"
        />
      </label>
      <label>
        Events
        <select value={scope.only} onChange={(event) => set({ only: event.target.value })}>
          {KINDS.map(([value, says]) => (
            <option key={value} value={value}>
              {says}
            </option>
          ))}
        </select>
      </label>
      <label>
        Merchant
        <select value={scope.merchant} onChange={(event) => set({ merchant: event.target.value })}>
          <option value="">all</option>
          {merchants.data?.map(({ merchantId, name }) => (
            <option key={merchantId} value={merchantId}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
