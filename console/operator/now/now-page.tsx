import { formatDuration } from '../../../client/duration.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { inWords, Outcome } from '../../parts/outcome.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { Panel } from '../parts/screen.tsx';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { Newest, Status } from '../shapes.ts';
import { findingsOf, verdictOf } from './findings.ts';
import { Tiles } from './tiles.tsx';

const EVERY_MS = 5000;
const SECOND_MS = 1000;

const WHOSE = { ours: 'us', theirs: 'them', producers: 'producer' } as const;

/** Is it us or them? */
export function NowPage() {
  useTitle('Now');
  const status = useCommand<Status>('status', {}, { everyMs: EVERY_MS });
  const newest = useCommand<Newest>('deliveries-summary', {}, { everyMs: EVERY_MS });
  return (
    <Shown query={status}>
      {(state) => <Shown query={newest}>{(summary) => <Now state={state} newest={summary} />}</Shown>}
    </Shown>
  );
}

function Now({ state, newest }: { readonly state: Status; readonly newest: Newest }) {
  const findings = findingsOf(state, newest);
  const verdict = verdictOf(findings);
  return (
    <>
      <section className={`panel us-or-them ${verdict.tone}`}>
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
