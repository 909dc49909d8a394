import { useState } from 'react';
import { Button, Field, Form } from '../../parts/controls.tsx';
import { ErrorPanel, Panel, ReadTable, useTitle } from '../../parts/screen.tsx';
import { Outcome, Time } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { useChange, useCommand } from '../api.ts';
import { MerchantName } from '../names.tsx';

const EVERY_MS = 3000;

/** "Is everybody whole again?" */
export function ReplaysPage() {
  useTitle('Replays');
  const replays = useCommand('replay-list', {}, EVERY_MS);
  const cancel = useChange('replay-cancel');
  return (
    <>
      <Start />
      <Panel title="Replays">
        <ErrorPanel error={cancel.error} />
        <ReadTable
          label="Replays"
          none="There was none."
          query={replays}
          rowsOf={(list) => list}
          keyOf={({ replayId }) => replayId}
          columns={{
            started: ({ replayId, createdAt }) => (
              <span title={replayId}>
                <Time at={createdAt} />
              </span>
            ),
            merchant: ({ merchantId }) => <MerchantName id={merchantId} none="all" />,
            events: ({ only }) => only,
            period: ({ since, until }) => (
              <>
                <Time at={since} /> to <Time at={until} />
              </>
            ),
            status: ({ status }) => <Outcome tone={TONES[status] ?? 'none'}>{inWords(status)}</Outcome>,
            progress: ({ published, count }) => `${published} of ${count}`,
            '': ({ status, replayId: id }) =>
              status === 'running' ? <Button onClick={() => cancel.mutate({ id })}>Cancel</Button> : null,
          }}
        />
      </Panel>
    </>
  );
}

const TONES: Readonly<Record<string, 'good' | 'wait'>> = { completed: 'good', running: 'wait' };

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
  const count = useChange('replay-start');
  const start = useChange('replay-start');
  const set = (change: Partial<Scope>) => {
    setScope({ ...scope, ...change });
    count.reset();
    start.reset();
  };
  const given = Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== ''));
  const submit = () => {
    start.reset();
    count.mutate({ ...given, dryRun: true });
  };
  // The period is the one that was counted, in times.
  const counted = count.data && 'byType' in count.data ? count.data : undefined;
  const types = Object.entries(counted?.byType ?? {}).map(([type, events]) => `${events} ${type}`);
  return (
    <Panel heading="h1" title="Replay after an incident">
      <Form className="row act" onSubmit={submit}>
        <Fields scope={scope} set={set} />
        <Button type="submit" busy={count.isPending && 'Counting…'}>
          Count
        </Button>
      </Form>
      <p className="note">Since and until: 30m, 2h or 7d ago, or a time such as 2030-01-31T08:00:00Z.</p>
      <ErrorPanel error={count.error ?? start.error} />
      {counted === undefined || start.data !== undefined ? null : (
        <div role="status">
          <p>
            A replay would send <strong>{counted.count}</strong> {counted.count === 1 ? 'event' : 'events'}
            {counted.count === 0 ? '' : `: ${types.join(', ')}`}.
          </p>
          {counted.count === 0 ? null : (
            <Button
              kind="primary"
              disabled={start.isPending}
              onClick={() => start.mutate({ ...given, since: counted.since, until: counted.until })}
            >
              Start the replay
            </Button>
          )}
        </div>
      )}
      {start.data === undefined ? null : <p role="status">The replay has started: its progress is below.</p>}
    </Panel>
  );
}

function Fields({ scope, set }: { readonly scope: Scope; readonly set: (change: Partial<Scope>) => void }) {
  const { data = [] } = useCommand('merchants-list');
  const { since, until, only, merchant } = scope;
  const merchants = data.map(({ merchantId, name }) => [merchantId, name] as const);
  return (
    <>
      <Field
        label="Since"
        placeholder="2h, or a time"
        value={since}
        onChange={(to) => set({ since: to })}
        required
      />
      <Field label="Until" placeholder="now" value={until} onChange={(to) => set({ until: to })} />
      <Field label="Events" value={only} options={KINDS} onChange={(to) => set({ only: to })} />
      <Field
        label="Merchant"
        value={merchant}
        options={[['', 'all'], ...merchants]}
        onChange={(to) => set({ merchant: to })}
      />
    </>
  );
}
