import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { endpointsQuery } from '../api/reads.ts';
import { isSignedOut } from '../api/refusal.ts';
import { ended, useSession } from '../api/session.ts';
import { CsvButton } from '../exports/csv-button.tsx';
import { Check, Select } from '../parts/controls.tsx';
import { EndpointSelect } from '../parts/endpoint.tsx';
import { Empty, ErrorPanel, Loading, useTitle } from '../parts/screen.tsx';
import { given } from '../parts/search.ts';
import { type LiveFilters, listsOf, liveFiltersIn } from './live-filters.ts';
import { LiveList } from './live-list.tsx';
import { LiveLog } from './live-log.ts';
import { isFailed } from './live-row.ts';
import { fillLive, type LiveState } from './live-source.ts';

/** Shows deliveries as they happen, and the events that an endpoint did not get. */
export function LivePage() {
  useTitle('Live');
  const filters = useSearch({ from: '/live' });
  const { type, endpoint, failed = false, grouped = false } = filters;
  const { log, state, isRead, error } = useLive(type, endpoint);
  const rows = useSyncExternalStore(log.watch, log.rows);
  const shown = useMemo(() => (failed ? rows.filter(isFailed) : rows), [rows, failed]);
  return (
    <section className="live">
      <div className="row live-head">
        <h1>Live</h1>
        <State state={state} />
        <Filters filters={filters} />
        <CsvButton what={failed ? 'failed' : 'live'} lists={listsOf(filters)} />
      </div>
      <ErrorPanel error={error} />
      {shown.length > 0 ? <LiveList rows={shown} grouped={grouped} /> : null}
      {shown.length === 0 && !isRead && !error ? <Loading /> : null}
      {shown.length === 0 && isRead ? <NoRows isFiltered={failed || Boolean(type ?? endpoint)} /> : null}
    </section>
  );
}

/** Follows the stream while the screen is open. */
function useLive(type: string | undefined, endpoint: string | undefined) {
  const client = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters, another log
  const log = useMemo(() => new LiveLog(), [type, endpoint]);
  const [state, setState] = useState<LiveState>('connecting');
  const [isRead, setRead] = useState(false);
  const [error, setError] = useState<Error>();
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    const failed = (thrown: Error) => {
      if (signal.aborted) return;
      if (isSignedOut(thrown)) ended(client, thrown.code);
      setError(thrown);
    };
    setRead(false);
    setError(undefined);
    fillLive(log, {
      signal,
      filter: given({ type, endpoint_uuid: endpoint }),
      onState: setState,
      onEndpointChanged: () => void client.invalidateQueries(endpointsQuery),
      onPast: (thrown) => {
        if (thrown !== undefined) return failed(thrown);
        setError(undefined);
        setRead(true);
      },
    }).catch(failed);
    return () => ending.abort();
  }, [client, log, type, endpoint]);
  return { log, state, isRead, error };
}

const STATES: Readonly<Record<LiveState, string>> = {
  connecting: 'Connecting to the service.',
  live: 'Events are shown as they happen.',
  'catching up': 'The connection was broken. Missed events are being loaded.',
  reconnecting: 'The connection broke. The console is reconnecting, and nothing is lost.',
};

function State({ state }: { readonly state: LiveState }) {
  return (
    <span className={`state-of-live ${state === 'live' ? 'on' : 'off'}`} role="status" title={STATES[state]}>
      <span aria-hidden="true">●</span> {state}
    </span>
  );
}

function Filters({ filters }: { readonly filters: LiveFilters }) {
  const navigate = useNavigate({ from: '/live' });
  const set = (change: Record<string, string | boolean>) => {
    const search = liveFiltersIn({ ...filters, ...change });
    void navigate({ to: '/live', search, replace: true });
  };
  const { type = '', endpoint, failed = false, grouped = false } = filters;
  const types = [['', 'All types'] as const, ...EVENT_TYPES];
  return (
    <div className="row filters">
      <Select aria-label="Type" value={type} options={types} onChange={(to) => set({ type: to })} />
      <EndpointSelect value={endpoint} all="All endpoints" onChange={(to) => set({ endpoint: to })} />
      <Check isOn={failed} onChange={(to) => set({ failed: to })}>
        Failed only
      </Check>
      <Check isOn={grouped} onChange={(to) => set({ grouped: to })}>
        By transaction
      </Check>
    </div>
  );
}

function NoRows({ isFiltered }: { readonly isFiltered: boolean }) {
  const environment = useSession()?.environment;
  if (isFiltered) {
    return (
      <Empty title="Nothing matches these filters">
        <p>What matches from now on is shown at once.</p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has happened yet">
      {environment === 'sandbox' ? (
        <>
          <p>Send an event of any type, and see it arrive here:</p>
          <pre>npx --no hookrail sim trigger KYC/FULL_USER</pre>
          <p>
            No endpoint yet? Let your own app receive it:{' '}
            <code>npx --no hookrail sim listen --forward-to localhost:3000</code>
          </p>
        </>
      ) : (
        <p>Each event of the platform is shown here when it happens, with what your endpoints answered.</p>
      )}
    </Empty>
  );
}
