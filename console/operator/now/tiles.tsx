import type { ReactNode } from 'react';
import { formatDuration } from '../../../client/duration.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { inWords } from '../../parts/outcome.tsx';
import { Time } from '../../parts/time.tsx';
import { useCommand } from '../api.ts';
import { Way } from '../parts/way.tsx';
import type { Endpoint, Newest, Status } from '../shapes.ts';
import { FREE_BYTES, HEADROOM_SECONDS, LATE_SECONDS } from './findings.ts';

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
const DISABLED_MAX = 1000;

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

/** The numbers of the service; a red one leads to what to do. */
export function Tiles({ state, newest }: { readonly state: Status; readonly newest: Newest }) {
  return (
    <ul className="tiles" aria-label="Numbers">
      <Flow state={state} newest={newest} />
      <Owners state={state} />
      <Room state={state} />
    </ul>
  );
}

/** How deliveries flow. */
function Flow({ state, newest }: { readonly state: Status; readonly newest: Newest }) {
  const oldest = Math.max(
    state.oldestOverdueSeconds ?? 0,
    ...state.streams.map(({ oldestSeconds }) => oldestSeconds),
  );
  const endpoints = state.merchants?.endpoints;
  return (
    <>
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
      <AutoDisabled />
    </>
  );
}

/** Endpoints that were disabled because they failed for long, in the last day. */
function AutoDisabled() {
  const { data } = useCommand<{ readonly items: readonly Endpoint[] }>('endpoints-list', {
    status: 'auto_disabled',
    limit: DISABLED_MAX,
  });
  const recent =
    data?.items.filter(({ disabledAt }) => Date.parse(disabledAt ?? '') > Date.now() - DAY_MS) ?? [];
  const [first] = recent;
  return (
    <Tile
      label="Disabled by us, 24 h"
      to={first === undefined ? '/audit' : `/merchants/${first.merchantId}`}
      isBad={recent.length > 0}
      value={data === undefined ? '–' : recent.length}
    >
      <Foreign text={first?.url ?? 'endpoints'} />
    </Tile>
  );
}

/** Numbers of things that wait for a person. */
function Owners({ state }: { readonly state: Status }) {
  const onHold = state.merchants?.onHold;
  const [cause] = state.quarantine ?? [];
  return (
    <>
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
    </>
  );
}

/** Free disk, and time until retention deletes. */
function Room({ state }: { readonly state: Status }) {
  const headrooms = state.streams.flatMap(({ headroomSeconds }) => headroomSeconds ?? []);
  return (
    <>
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
    </>
  );
}
