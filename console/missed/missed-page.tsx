import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { endpointsQuery } from '../api/reads.ts';
import { EndpointSelect } from '../parts/endpoint-select.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Loading } from '../parts/loading.tsx';
import { useNow } from '../parts/now.ts';
import { Time } from '../parts/time.tsx';
import { useTitle } from '../parts/title.ts';
import { BringBack } from './bring-back.tsx';
import { type LaneOf, Lanes, missedOf } from './lanes.tsx';
import { type MissedSearch, missedSearchIn, WINDOWS, type Window, windowOf } from './missed-search.ts';
import { type Range, RangeFields } from './range-fields.tsx';
import { missedQuery, replaysQuery, SHOWN_MAX } from './reads.ts';
import { eventsOf, reasonOf } from './reasons.ts';
import { Replays } from './replays.tsx';
import { columnsOf, marksOf, type Spell, spellsOf } from './spells.ts';

/** Shows what each endpoint missed, and brings it back. */
export function MissedPage() {
  useTitle('Missed');
  const search = useSearch({ from: '/missed' });
  const { lanes, window, error, refetch, isCut } = useLanes(search);
  const worst = [...(lanes ?? [])].sort((a, b) => missedOf(b.marks) - missedOf(a.marks));
  const chosen = lanes?.find(({ endpoint }) => endpoint.uuid === search.endpoint) ?? worst[0];
  return (
    <>
      <section className="panel missed">
        <div className="live-head">
          <h1>Missed</h1>
          <Choices search={search} hours={window.hours} chosen={chosen?.endpoint.uuid} />
        </div>
        {error ? <ErrorPanel error={error} retry={refetch} /> : null}
        {lanes === undefined && !error ? <Loading /> : null}
        {lanes === undefined ? null : <Summary lanes={lanes} window={window} />}
        {isCut ? (
          <p className="note">
            The time line shows the newest {SHOWN_MAX.toLocaleString('en')} of each kind. The counts below
            have all.
          </p>
        ) : null}
        {chosen === undefined ? null : (
          <Lanes
            {...{ window, search }}
            lanes={worst}
            chosen={chosen.endpoint.uuid}
            range={rangeOf(search, window, chosen.spells)}
          />
        )}
      </section>
      {chosen === undefined ? null : (
        <Chosen key={chosen.endpoint.uuid} lane={chosen} window={window} search={search} />
      )}
    </>
  );
}

/** Reads what is needed for the time lines. The window moves on with the clock. */
function useLanes(search: MissedSearch) {
  const now = useNow();
  const { hours, since } = search;
  const { to } = windowOf(search, now);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `to` says when the present column changes
  const window = useMemo(
    () =>
      windowOf({ ...(hours === undefined ? {} : { hours }), ...(since === undefined ? {} : { since }) }, now),
    [hours, since, to],
  );
  const endpoints = useQuery(endpointsQuery);
  const missed = useQuery(missedQuery(window));
  const lanes = useMemo(() => {
    if (endpoints.data === undefined || missed.data === undefined) return undefined;
    const { deliveries, events, series } = missed.data;
    const all = marksOf(deliveries, events);
    return endpoints.data.map((endpoint): LaneOf => {
      const marks = all.filter((mark) => mark.endpoint === endpoint.uuid && mark.at >= window.from);
      const attempts = series.find(({ name }) => name === endpoint.uuid);
      const columns = columnsOf(window, marks, attempts);
      return { endpoint, marks, columns, spells: spellsOf(window, marks, columns) };
    });
  }, [endpoints.data, missed.data, window]);
  const refetch = () => void Promise.all([endpoints.refetch(), missed.refetch()]);
  return {
    lanes,
    window,
    refetch,
    error: endpoints.error ?? missed.error,
    isCut: missed.data?.isCut ?? false,
  };
}

/** Returns the range of the address, else the last dark spell, else the whole window. */
function rangeOf({ since, until }: MissedSearch, { from, to }: Window, spells: readonly Spell[]): Range {
  if (since !== undefined && until !== undefined) return { from: Date.parse(since), to: Date.parse(until) };
  return spells.at(-1) ?? { from, to };
}

interface ChoicesProps {
  readonly search: MissedSearch;
  readonly hours: number;
  readonly chosen: string | undefined;
}

function Choices({ search, hours, chosen }: ChoicesProps) {
  const navigate = useNavigate({ from: '/missed' });
  const set = (change: MissedSearch) => {
    const { since: _since, until: _until, ...kept } = search;
    void navigate({ to: '/missed', search: missedSearchIn({ ...kept, ...change }) });
  };
  return (
    <div className="filters">
      <EndpointSelect value={chosen} onChange={(endpoint) => set({ endpoint })} />
      <select
        aria-label="Window"
        value={hours}
        onChange={({ target }) => set({ hours: Number(target.value) })}
      >
        {WINDOWS.map((window) => (
          <option key={window.hours} value={window.hours}>
            {window.label}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Answers "what did I lose?" in a sentence. */
function Summary({ lanes, window }: { readonly lanes: readonly LaneOf[]; readonly window: Window }) {
  const since = <Time at={new Date(window.from).toISOString()} digits="minutes" />;
  if (lanes.length === 0) {
    return (
      <div className="empty">
        <h2>There is no endpoint yet</h2>
        <p>
          Create one, and <Link to="/live">Live</Link> shows what it receives. What it misses is shown here.
        </p>
      </div>
    );
  }
  const hit = lanes.filter(({ marks }) => missedOf(marks) > 0);
  const missed = hit.reduce((sum, { marks }) => sum + missedOf(marks), 0);
  const owed = lanes.reduce((sum, { marks }) => sum + marks.length - missedOf(marks), 0);
  return (
    <p className="summary">
      {missed === 0 ? (
        <>Nothing was missed since {since}.</>
      ) : (
        <>
          {hit.length === 1 ? '1 endpoint' : `${hit.length} endpoints`} missed {eventsOf(missed)} since{' '}
          {since}.
        </>
      )}
      {owed === 0 ? '' : ` ${eventsOf(owed)} ${owed === 1 ? 'is' : 'are'} still being tried, and not lost.`}
    </p>
  );
}

interface ChosenProps {
  readonly lane: LaneOf;
  readonly window: Window;
  readonly search: MissedSearch;
}

/** The dark spells of one endpoint, and the range to bring back. */
function Chosen({ lane: { endpoint, spells }, window, search }: ChosenProps) {
  const navigate = useNavigate({ from: '/missed' });
  const { data: replays = [] } = useQuery(replaysQuery(endpoint.uuid));
  const range = rangeOf(search, window, spells);
  const choose = useCallback(
    ({ from, to }: Range) => {
      const [since, until] = [new Date(from).toISOString(), new Date(to).toISOString()];
      void navigate({
        to: '/missed',
        search: missedSearchIn({ ...search, endpoint: endpoint.uuid, since, until }),
        replace: true,
      });
    },
    [navigate, search, endpoint.uuid],
  );
  return (
    <>
      <section className="panel">
        <h2>Bring back</h2>
        <Spells spells={spells} range={range} onChoose={choose} />
        <RangeFields window={window} range={range} onChange={choose} />
        <BringBack endpoint={endpoint} range={range} replays={replays} />
      </section>
      <Replays replays={replays} />
    </>
  );
}

interface SpellsProps {
  readonly spells: readonly Spell[];
  readonly range: Range;
  readonly onChoose: (range: Range) => void;
}

function Spells({ spells, range, onChoose }: SpellsProps) {
  if (spells.length === 0) return <p className="note">This endpoint missed nothing in the window.</p>;
  return (
    <ul className="spells" aria-label="Dark spells">
      {[...spells].reverse().map((spell) => (
        <li key={spell.from}>
          <button
            type="button"
            aria-pressed={spell.from === range.from && spell.to === range.to}
            onClick={() => onChoose(spell)}
          >
            <Time at={new Date(spell.from).toISOString()} digits="minutes" /> –{' '}
            <Time at={new Date(spell.to).toISOString()} digits="minutes" />
          </button>{' '}
          {eventsOf(spell.count)}
          <span className="note">
            {Object.entries(spell.reasons)
              .map(([reason, count]) => `${count} ${reasonOf(reason)}`)
              .join(' · ')}
          </span>
        </li>
      ))}
    </ul>
  );
}
