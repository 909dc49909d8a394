import type { ReactNode } from 'react';
import { formatDuration } from '../../../client/duration.ts';
import { Panel, Shown, Table, useTitle, Way } from '../../parts/screen.tsx';
import { foreign, Outcome, Sentence, Time } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { useCommand } from '../api.ts';
import type { Endpoint, Newest, Status } from '../shapes.ts';
import { FREE_BYTES, findingsOf, HEADROOM_SECONDS, LATE_SECONDS, verdictOf } from './findings.ts';

const EVERY_MS = 5000;
const SECOND_MS = 1000;

const WHOSE = { ours: 'us', theirs: 'them', producers: 'producer' } as const;

/** Is it us or them? */
export function NowPage() {
  useTitle('Now');
  const status = useCommand('status', {}, EVERY_MS);
  const newest = useCommand('deliveries-summary', {}, EVERY_MS);
  return (
    <Shown query={status}>
      {(state) => <Shown query={newest}>{(summary) => <Now state={state} newest={summary} />}</Shown>}
    </Shown>
  );
}

function Now({ state, newest }: { readonly state: Status; readonly newest: Newest }) {
  const findings = findingsOf(state, newest);
  const { tone, says } = verdictOf(findings);
  return (
    <>
      <Panel heading="h1" title={<Outcome tone={tone}>{says}</Outcome>} className={`us-or-them ${tone}`}>
        {findings.length === 0 ? (
          <p className="note">This page reads the state again every five seconds.</p>
        ) : (
          <ul className="lines findings">
            {findings.map(({ whose, says: sentence, runbook, place }) => (
              <li key={sentence}>
                <span className={whose === 'ours' ? 'chip bad' : 'chip wait'}>{WHOSE[whose]}</span>
                <span className="says">
                  <Sentence text={sentence} />
                </span>
                {place === undefined ? null : <Way to={place}>Show</Way>}
                <Way to={`/runbook/${runbook}`}>What to do</Way>
              </li>
            ))}
          </ul>
        )}
      </Panel>
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
    <div className="columns halves">
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
                {foreign(name)}
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
              <Way to={`/merchants/${merchantId}`}>{foreign(name ?? merchantId)}</Way>
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
      <Table
        label="Processes"
        rows={state.processes}
        keyOf={({ url }) => url}
        columns={{
          process: ({ url }) => url,
          state: ({ ready }) => (
            <Outcome tone={ready ? 'good' : 'bad'}>{ready ? 'ready' : 'not ready'}</Outcome>
          ),
          version: ({ version }) => version ?? '–',
          'up for': ({ uptimeSeconds: up }) => (up === null ? '–' : lasting(up)),
        }}
      />
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

const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
const DISABLED_MAX = 1000;

/** A number that leads to what it counts, or, when it is bad, to what to do. */
interface Tile {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly isBad?: boolean;
  readonly value: ReactNode;
  readonly note: ReactNode;
}

const sum = (counts: readonly { readonly count: number }[] | null) =>
  (counts ?? []).reduce((total, { count }) => total + count, 0);
const lasting = (seconds: number) => formatDuration(seconds * SECOND_MS);

/** The numbers of the service; a red one leads to what to do. */
function Tiles({ state, newest }: { readonly state: Status; readonly newest: Newest }) {
  const disabled = useAutoDisabled();
  const tiles = {
    ...flowOf(state, newest),
    'Disabled by us, 24 h': disabled,
    ...waitingOf(state),
    ...roomOf(state),
  };
  return (
    <ul className="tiles" aria-label="Numbers">
      {Object.entries<Tile>(tiles).map(([label, { isBad = false, value, note, ...way }]) => (
        <li key={label}>
          <Way className={isBad ? 'tile bad' : 'tile'} {...way}>
            <span className="note">{label}</span>
            <strong>{value}</strong>
            <span className="note">{note}</span>
          </Way>
        </li>
      ))}
    </ul>
  );
}

/** How deliveries flow. */
function flowOf({ oldestOverdueSeconds, streams, merchants }: Status, newest: Newest) {
  const oldest = Math.max(oldestOverdueSeconds ?? 0, ...streams.map(({ oldestSeconds }) => oldestSeconds));
  const { failing = '–', active = '–' } = merchants?.endpoints ?? {};
  const since = (
    <>
      since <Time at={newest.since} />
    </>
  );
  return {
    Attempts: { to: '/deliveries', value: `${newest.attemptsPerSecond}/s`, note: since },
    'Delivery, p99': {
      to: '/deliveries',
      value: newest.p99Seconds === null ? '–' : lasting(newest.p99Seconds),
      note: 'from the event to its 2xx',
    },
    'Oldest waiting': {
      to: '/runbook/HookrailLagOld',
      isBad: oldest > LATE_SECONDS,
      value: oldest < 1 ? 'none' : lasting(oldest),
      note: 'of what should have gone out',
    },
    'Failing endpoints': {
      to: '/deliveries',
      search: { status: 'failed' },
      value: failing,
      note: `of ${active} active`,
    },
  };
}

/** Endpoints that were disabled because they failed for long, in the last day. */
function useAutoDisabled(): Tile {
  const given = { status: 'auto_disabled', limit: DISABLED_MAX };
  const { data } = useCommand('endpoints-list', given);
  const isRecent = ({ disabledAt }: Endpoint) => Date.parse(disabledAt ?? '') > Date.now() - DAY_MS;
  const recent = data?.items.filter(isRecent) ?? [];
  const [first] = recent;
  return {
    to: first === undefined ? '/audit' : `/merchants/${first.merchantId}`,
    isBad: recent.length > 0,
    value: data === undefined ? '–' : recent.length,
    note: foreign(first?.url ?? 'endpoints'),
  };
}

/** Numbers of things that wait for a person. */
function waitingOf({ merchants, quarantine, deadLetters }: Status) {
  const { count = '–', names = [] } = merchants?.onHold ?? {};
  const aside = sum(quarantine);
  const cause = quarantine?.[0]?.reason ?? 'events that were not sent';
  return {
    'On hold': { to: '/merchants', value: count, note: foreign(names.join(', ') || 'merchants') },
    Quarantine: { to: '/quarantine', isBad: aside > 0, value: aside, note: inWords(cause) },
    'Dead letters': { to: '/dead-letters', value: sum(deadLetters), note: 'deliveries given up' },
  };
}

/** Free disk, and time until retention deletes. */
function roomOf({ freeBytes, streams }: Status) {
  const headrooms = streams.flatMap(({ headroomSeconds }) => headroomSeconds ?? []);
  const isSafe = headrooms.length === 0;
  return {
    Disk: {
      to: '/runbook/HookrailEngineUnreachable',
      isBad: (freeBytes ?? FREE_BYTES) < FREE_BYTES,
      value: freeBytes === null ? '–' : `${(freeBytes / GIB).toFixed(1)} GiB`,
      note: 'free',
    },
    Retention: {
      to: '/runbook/HookrailRetentionNear',
      isBad: headrooms.some((seconds) => seconds < HEADROOM_SECONDS),
      value: isSafe ? 'safe' : lasting(Math.min(...headrooms)),
      note: isSafe ? 'nothing waits to be deleted' : 'until what waits is deleted',
    },
  };
}
