import type { ReactNode } from 'react';
import { formatDuration } from '../../../client/duration.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { inWords, Outcome } from '../../parts/outcome.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { Panel, Read } from '../parts/screen.tsx';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { Newest, Status } from '../shapes.ts';
import { FREE_BYTES, findingsOf, HEADROOM_SECONDS, LATE_SECONDS, verdictOf } from './findings.ts';

const EVERY_MS = 5000;
const SECOND_MS = 1000;
const GIB = 1024 ** 3;

const WHOSE = { ours: 'us', theirs: 'them', producers: 'producer' } as const;

/** Is it us or them? */
export function NowPage() {
  useTitle('Now');
  const status = useCommand<Status>('status', {}, { everyMs: EVERY_MS });
  const newest = useCommand<Newest>('deliveries-summary', {}, { everyMs: EVERY_MS });
  return (
    <Read of={status}>
      {(state) => <Read of={newest}>{(summary) => <Now state={state} newest={summary} />}</Read>}
    </Read>
  );
}

function Now({ state, newest }: { readonly state: Status; readonly newest: Newest }) {
  const findings = findingsOf(state, newest);
  const verdict = verdictOf(findings);
  return (
    <>
      <section className={`panel verdict ${verdict.tone}`}>
        <h1>
          <Outcome tone={verdict.tone}>{verdict.says}</Outcome>
        </h1>
        {findings.length === 0 ? (
          <p className="note">This page reads the state again every five seconds.</p>
        ) : (
          <ul className="lines findings">
            {findings.map(({ whose, says, runbook, place }) => (
              <li key={says}>
                <span className={`chip whose-${whose}`}>{WHOSE[whose]}</span>
                <span className="says">
                  <Sentence text={says} />
                </span>
                {place === undefined ? null : <Way to={place}>Show</Way>}
                <Way to={`/runbook/${runbook}`}>What to do</Way>
              </li>
            ))}
          </ul>
        )}
      </section>
      <Tiles state={state} newest={newest} />
      <Failing newest={newest} />
      <Processes state={state} />
    </>
  );
}

interface TileProps {
  readonly label: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly isBad?: boolean;
  readonly value: ReactNode;
  readonly children?: ReactNode;
}

/** A number that leads to what it counts, or, when it is bad, to what to do. */
function Tile({ label, to, search, isBad = false, value, children }: TileProps) {
  return (
    <li>
      <Way to={to} className={isBad ? 'tile bad' : 'tile'} {...(search ? { search } : {})}>
        <span className="label">{label}</span>
        <strong>{value}</strong>
        <span className="note">{children}</span>
      </Way>
    </li>
  );
}

const sum = (counts: readonly { readonly count: number }[] | null) =>
  (counts ?? []).reduce((total, { count }) => total + count, 0);

function Tiles({ state, newest }: { readonly state: Status; readonly newest: Newest }) {
  const oldest = Math.max(
    state.oldestOverdueSeconds ?? 0,
    ...state.streams.map(({ oldestSeconds }) => oldestSeconds),
  );
  const headrooms = state.streams.flatMap(({ headroomSeconds }) => headroomSeconds ?? []);
  const { onHold, endpoints } = state.merchants ?? {};
  const [cause] = state.quarantine ?? [];
  return (
    <ul className="tiles" aria-label="Numbers">
      <Tile label="Attempts" to="/deliveries" value={`${newest.attemptsPerSecond}/s`}>
        since <Time at={newest.since} />
      </Tile>
      <Tile
        label="Delivery, p99"
        to="/deliveries"
        value={newest.p99Seconds === null ? '–' : formatDuration(newest.p99Seconds * SECOND_MS)}
      >
        from the event to its 2xx
      </Tile>
      <Tile
        label="Oldest waiting"
        to="/runbook/HookrailLagOld"
        isBad={oldest > LATE_SECONDS}
        value={oldest < 1 ? 'none' : formatDuration(oldest * SECOND_MS)}
      >
        of what should have gone out
      </Tile>
      <Tile
        label="Failing endpoints"
        to="/deliveries"
        search={{ status: 'failed' }}
        value={endpoints?.failing ?? '–'}
      >
        of {endpoints?.active ?? '–'} active
      </Tile>
      <Tile
        label="Disabled by us, 24 h"
        to="/audit"
        isBad={newest.autoDisabled.length > 0}
        value={newest.autoDisabled.length}
      >
        {newest.autoDisabled[0]?.host ?? 'endpoints'}
      </Tile>
      <Tile label="On hold" to="/merchants" value={onHold?.count ?? '–'}>
        <Foreign text={onHold?.names.join(', ') || 'merchants'} />
      </Tile>
      <Tile
        label="Quarantine"
        to="/quarantine"
        isBad={sum(state.quarantine) > 0}
        value={sum(state.quarantine)}
      >
        {cause ? inWords(cause.reason) : 'events that were not sent'}
      </Tile>
      <Tile label="Dead letters" to="/dead-letters" value={sum(state.deadLetters)}>
        deliveries given up
      </Tile>
      <Tile
        label="Disk"
        to="/runbook/HookrailEngineUnreachable"
        isBad={(state.freeBytes ?? FREE_BYTES) < FREE_BYTES}
        value={state.freeBytes === null ? '–' : `${(state.freeBytes / GIB).toFixed(1)} GiB`}
      >
        free
      </Tile>
      <Tile
        label="Retention"
        to="/runbook/HookrailRetentionNear"
        isBad={headrooms.some((seconds) => seconds < HEADROOM_SECONDS)}
        value={headrooms.length === 0 ? 'safe' : formatDuration(Math.min(...headrooms) * SECOND_MS)}
      >
        {headrooms.length === 0 ? 'nothing waits to be deleted' : 'until what waits is deleted'}
      </Tile>
    </ul>
  );
}

const GOOD = 'delivered';

function Failing({ newest }: { readonly newest: Newest }) {
  const { results, deliveries, failingHosts, failingMerchants } = newest;
  return (
    <div className="halves">
      <Panel title={`Results of the newest ${deliveries} deliveries`}>
        {results.length === 0 ? <p>There was none in the last 15 minutes.</p> : null}
        <ul className="lines">
          {results.map(({ name, count }) => (
            <li key={name}>
              <Outcome tone={name === GOOD ? 'good' : name === 'waiting' ? 'wait' : 'bad'}>{name}</Outcome>
              <meter min={0} max={deliveries} value={count} aria-label={inWords(name)} />
              <span>{count}</span>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title="Failing hosts">
        {failingHosts.length === 0 ? <p>No host fails.</p> : null}
        <ul className="lines">
          {failingHosts.map(({ name, code, failures, failingSince, merchantIds }) => (
            <li key={name}>
              <Way to={merchantIds[0] === undefined ? '/merchants' : `/merchants/${merchantIds[0]}`}>
                <Foreign text={name} />
              </Way>
              <Outcome tone="bad">{code ?? 'failed'}</Outcome>
              <span className="note">
                {failures} in a row, last 2xx {failingSince === null ? 'never' : <Time at={failingSince} />}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title="Merchants with failing endpoints">
        {failingMerchants.length === 0 ? <p>None.</p> : null}
        <ul className="lines">
          {failingMerchants.map(({ merchantId, name, endpoints, failures }) => (
            <li key={merchantId}>
              <Way to={`/merchants/${merchantId}`}>
                <Foreign text={name ?? merchantId} />
              </Way>
              <span className="note">
                {endpoints} failing, {failures} failures in a row
              </span>
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  );
}

function Processes({ state }: { readonly state: Status }) {
  const elsewhere = state.streams.filter(({ isRead }) => !isRead).map(({ stream }) => stream);
  return (
    <Panel title="Processes">
      <Table label="Processes" columns={['Process', 'State', 'Version', 'Up for']}>
        {state.processes.map(({ url, ready, version, uptimeSeconds }) => (
          <tr key={url}>
            <th scope="row">{url}</th>
            <td>
              <Outcome tone={ready ? 'good' : 'bad'}>{ready ? 'ready' : 'not ready'}</Outcome>
            </td>
            <td>{version ?? '–'}</td>
            <td>{uptimeSeconds === null ? '–' : formatDuration(uptimeSeconds * SECOND_MS)}</td>
          </tr>
        ))}
      </Table>
      {elsewhere.length === 0 ? null : (
        <p className="note">
          Other processes read {elsewhere.join(', ')}: the{' '}
          <Way to="/runbook/HookrailStreamUnread">runbook</Way> and the dashboard
          (docs/operate/dashboard.json) have them.
        </p>
      )}
    </Panel>
  );
}
