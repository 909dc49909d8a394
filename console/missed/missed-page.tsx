import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { endpointsQuery, UNDELIVERED, UNSENT } from '../api/reads.ts';
import { CsvButton } from '../exports/csv-button.tsx';
import { Button, Select } from '../parts/controls.tsx';
import { EndpointSelect } from '../parts/endpoint.tsx';
import { Empty, ErrorPanel, Loading, Panel, useTitle } from '../parts/screen.tsx';
import { Time, useNow } from '../parts/text.tsx';
import { BringBack } from './bring-back.tsx';
import { type LaneOf, Lanes } from './lanes.tsx';
import { type MissedSearch, missedSearchIn, WINDOWS, type Window, windowOf } from './missed-search.ts';
import { type Range, RangeFields } from './range-fields.tsx';
import { isRunning, MISSED, missedQuery, replaysQuery, SHOWN_MAX } from './reads.ts';
import { Replays } from './replays.tsx';
import { columnsOf, marksOf, missedOf, spellsOf } from './spells.ts';
import { eventsOf, reasonOf, tallyOf } from './words.ts';

/** Shows what each endpoint missed, and brings it back. */
export function MissedPage() {
  useTitle('Missed');
  const search = useSearch({ from: '/missed' });
  const { lanes, window, error, refetch, isCut } = useLanes(search);
  const chosen = lanes?.find(({ endpoint }) => endpoint.uuid === search.endpoint) ?? lanes?.[0];
  const range = rangeOf(search, window, chosen);
  return (
    <>
      <section className="panel">
        <div className="row live-head">
          <h1>Missed</h1>
          <Choices search={search} hours={window.hours} chosen={chosen?.endpoint.uuid} />
        </div>
        <ErrorPanel error={error} retry={refetch} />
        {lanes === undefined && !error ? <Loading /> : null}
        {lanes === undefined ? null : <Summary lanes={lanes} from={window.from} />}
        {isCut ? (
          <p className="note">
            The time line shows the newest {SHOWN_MAX.toLocaleString('en')} of each kind. What is still
            missing is counted in full.
          </p>
        ) : null}
        {lanes && chosen ? (
          <Lanes {...{ window, search, lanes, range }} chosen={chosen.endpoint.uuid} />
        ) : null}
      </section>
      {chosen ? <Chosen key={chosen.endpoint.uuid} {...{ lane: chosen, window, range, search }} /> : null}
    </>
  );
}

/** Reads what the time lines show: the endpoint that missed most first. The window moves on with the clock. */
function useLanes(search: MissedSearch) {
  const now = useNow();
  const { hours, since } = search;
  const { to } = windowOf(search, now);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `to` says when the present column changes
  const window = useMemo(() => windowOf(search, now), [hours, since, to]);
  const endpoints = useQuery(endpointsQuery);
  const missed = useQuery(missedQuery(window));
  const lanes = useMemo(() => {
    if (endpoints.data === undefined || missed.data === undefined) return undefined;
    const { deliveries, events, series } = missed.data;
    const all = marksOf(deliveries, events);
    const unsorted = endpoints.data.map((endpoint): LaneOf => {
      const marks = all.filter((mark) => mark.endpoint === endpoint.uuid && mark.at >= window.from);
      const attempts = series.find(({ name }) => name === endpoint.uuid);
      const columns = columnsOf(window, marks, attempts);
      return { endpoint, marks, columns, spells: spellsOf(window, marks, columns) };
    });
    return unsorted.sort((a, b) => missedOf(b.marks) - missedOf(a.marks));
  }, [endpoints.data, missed.data, window]);
  const refetch = () => void Promise.all([endpoints.refetch(), missed.refetch()]);
  const error = endpoints.error ?? missed.error;
  return { lanes, window, refetch, error, isCut: missed.data?.isCut ?? false };
}

/** Returns the range of the address, else the last dark spell, else the whole window. */
function rangeOf({ since, until }: MissedSearch, { from, to }: Window, chosen: LaneOf | undefined): Range {
  if (since && until) return { from: Date.parse(since), to: Date.parse(until) };
  return chosen?.spells.at(-1) ?? { from, to };
}

interface ChoicesProps {
  readonly search: MissedSearch;
  readonly hours: number;
  readonly chosen: string | undefined;
}

function Choices({ search, hours, chosen }: ChoicesProps) {
  const navigate = useNavigate({ from: '/missed' });
  const { since: _since, until: _until, ...kept } = search;
  const set = (change: MissedSearch) => void navigate({ to: '/missed', search: { ...kept, ...change } });
  return (
    <div className="row filters">
      <EndpointSelect value={chosen} onChange={(endpoint) => set({ endpoint })} />
      <Select
        aria-label="Window"
        value={hours}
        options={WINDOWS.map((window) => [String(window.hours), window.label] as const)}
        onChange={(length) => set({ hours: Number(length) })}
      />
    </div>
  );
}

/** Answers "what did I lose?" in a sentence. */
function Summary({ lanes, from }: { readonly lanes: readonly LaneOf[]; readonly from: number }) {
  if (lanes.length === 0) {
    return (
      <Empty title="There is no endpoint yet">
        <p>
          Create one (<code>POST /merchant/webhook-endpoints</code>), and <Link to="/live">Live</Link> shows
          what it receives. This screen shows what it misses.
        </p>
      </Empty>
    );
  }
  const hit = lanes.filter(({ spells }) => spells.length > 0);
  const missed = hit.reduce((sum, { marks }) => sum + missedOf(marks), 0);
  const owed = lanes.reduce((sum, { marks }) => sum + marks.length, 0) - missed;
  const whose = hit.length === 1 ? '1 endpoint' : `${hit.length} endpoints`;
  return (
    <p className="lead">
      {missed === 0 ? 'Nothing was missed' : `${whose} missed ${eventsOf(missed)}`} since{' '}
      <Time at={new Date(from).toISOString()} digits="minutes" />.
      {owed === 0 ? '' : ` ${eventsOf(owed)} ${owed === 1 ? 'is' : 'are'} still being tried, and not lost.`}
    </p>
  );
}

const periodOf = ({ from, to }: Range) => ({
  since: new Date(from).toISOString(),
  until: new Date(to).toISOString(),
});

interface ChosenProps {
  readonly lane: LaneOf;
  readonly window: Window;
  readonly range: Range;
  readonly search: MissedSearch;
}

/** The dark spells of one endpoint, and the range to bring back. */
function Chosen({ lane: { endpoint, spells }, window, range, search }: ChosenProps) {
  const navigate = useNavigate({ from: '/missed' });
  const { data: replays = [] } = useQuery(replaysQuery(endpoint.uuid));
  const client = useQueryClient();
  const isReplaying = replays.some(isRunning);
  useEffect(() => {
    if (!isReplaying) void client.invalidateQueries({ queryKey: [MISSED] });
  }, [client, isReplaying]);
  const list = { endpoint_uuid: endpoint.uuid, ...periodOf(range) };
  const choose = useCallback(
    (to: Range) => {
      const chosen = missedSearchIn({ ...search, endpoint: endpoint.uuid, ...periodOf(to) });
      void navigate({ to: '/missed', search: chosen, replace: true });
    },
    [navigate, search, endpoint.uuid],
  );
  return (
    <>
      <Panel title="Bring back">
        {spells.length === 0 ? <p className="note">This endpoint missed nothing in the window.</p> : null}
        <ul className="lines" aria-label="Dark spells">
          {[...spells].reverse().map((spell) => (
            <li key={spell.from}>
              <Button
                aria-pressed={spell.from === range.from && spell.to === range.to}
                onClick={() => choose(spell)}
              >
                <Time at={periodOf(spell).since} digits="minutes" /> –{' '}
                <Time at={periodOf(spell).until} digits="minutes" />
              </Button>
              {eventsOf(spell.count)}
              <span className="note">{tallyOf(spell.reasons, reasonOf)}</span>
            </li>
          ))}
        </ul>
        <RangeFields window={window} range={range} onChange={choose} />
        <BringBack
          endpoint={endpoint}
          period={periodOf(range)}
          replays={replays}
          // The dark spell changes when its events come back; the range stays.
          onBegin={() => choose(range)}
        />
        <CsvButton
          what="missed"
          lists={{
            deliveries: UNDELIVERED.map((status) => ({ ...list, status })),
            events: UNSENT.map((verdict) => ({ ...list, verdict })),
          }}
        />
      </Panel>
      <Replays replays={replays} />
    </>
  );
}
