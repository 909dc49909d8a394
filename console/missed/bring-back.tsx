import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { endpointsQuery } from '../api/reads.ts';
import { useSession } from '../api/session.ts';
import type { Endpoint, Replay, ReplayDryRun } from '../api/shapes.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Loading } from '../parts/loading.tsx';
import { inWords } from '../parts/outcome.tsx';
import { Time } from '../parts/time.tsx';
import type { Range } from './range-fields.tsx';
import { bringBack, dryRunQuery, isRunning, replaysQuery } from './reads.ts';
import { eventsOf, reasonOf } from './reasons.ts';

/** The most that a dry run counts. */
const COUNTED_MAX = 1_000_000;

interface Props {
  readonly endpoint: Endpoint;
  readonly range: Range;
  readonly replays: readonly Replay[];
}

/** Counts what is still missing in the range, and brings it back by one button. */
export function BringBack({ endpoint, range, replays }: Props) {
  const client = useQueryClient();
  const { uuid, status } = endpoint;
  const isReader = useSession()?.access !== 'write';
  const period = { since: new Date(range.from).toISOString(), until: new Date(range.to).toISOString() };
  const ended = replays.find((replay) => !isRunning(replay))?.replay_uuid;
  const dryRun = useQuery({ ...dryRunQuery(uuid, period, ended), enabled: !isReader });
  const isActive = status === 'active';
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => bringBack(uuid, period, isActive),
    onSettled: () =>
      Promise.all([client.invalidateQueries(replaysQuery(uuid)), client.invalidateQueries(endpointsQuery)]),
  });
  if (isReader)
    return (
      <p className="note">
        Your link is read-only. Ask the platform for a link with write access to count what is still missing
        and to bring it back.
      </p>
    );
  if (dryRun.error) return <ErrorPanel error={dryRun.error} retry={() => void dryRun.refetch()} />;
  if (dryRun.data === undefined) return <Loading />;
  const { count } = dryRun.data;
  const isBusy = isPending || dryRun.isPlaceholderData || replays.some(isRunning);
  return (
    <div className="bring-back" aria-busy={isBusy}>
      <Counted counted={dryRun.data} />
      {isActive || count === 0 ? null : <WhyDisabled endpoint={endpoint} />}
      <button type="button" className="primary" disabled={isBusy || count === 0} onClick={() => mutate()}>
        {isActive ? 'Bring' : 'Enable the endpoint, and bring'}{' '}
        {count === 1 ? 'this 1' : `these ${many(count)}`} back
      </button>
      {error ? <ErrorPanel error={error} /> : null}
    </div>
  );
}

function many(count: number): string {
  return `${count.toLocaleString('en')}${count === COUNTED_MAX ? ' or more' : ''}`;
}

function Counted({
  counted: { count, by_type: types, by_reason: reasons },
}: {
  readonly counted: ReplayDryRun;
}) {
  if (count === 0) {
    return (
      <p className="strong" role="status">
        Nothing of this range is missing.
      </p>
    );
  }
  return (
    <>
      <p role="status">
        <span className="strong">{count === 1 ? '1 event is' : `${many(count)} events are`} missing</span> in
        this range, and would be sent.
      </p>
      <div className="counts">
        <Counts title="Why" counts={reasons} says={reasonOf} />
        <Counts title="Type" counts={types} says={(type) => type} />
      </div>
    </>
  );
}

interface CountsProps {
  readonly title: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly says: (name: string) => string;
}

function Counts({ title, counts, says }: CountsProps) {
  const largestFirst = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col" className="number">
            Events
          </th>
        </tr>
      </thead>
      <tbody>
        {largestFirst.map(([name, count]) => (
          <tr key={name}>
            <th scope="row">{says(name)}</th>
            <td className="number">{count.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function WhyDisabled({ endpoint }: { readonly endpoint: Endpoint }) {
  const { status, disabled_at: at, disabled_reason: reason, last_failure: failure } = endpoint;
  return (
    <p className="warning">
      The endpoint is {inWords(status)}
      {at === null ? null : (
        <>
          {' '}
          since <Time at={at} />
        </>
      )}
      {reason === null || reason === 'manual' ? '' : ` (${inWords(reason)})`}, so nothing is sent to it.
      {failure === null || reason === 'manual'
        ? ''
        : ` Its last failure was ${failure.code}: mend your server first.`}
    </p>
  );
}

/** Says what a range was, for the list of replays. */
export function countOfReplay({ published, count }: Replay): string {
  return `${published.toLocaleString('en')} of ${eventsOf(count)} sent`;
}
