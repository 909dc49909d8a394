import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { endpointsQuery } from '../api/reads.ts';
import { useSession } from '../api/session.ts';
import type { Endpoint, Replay } from '../api/shapes.ts';
import { Button } from '../parts/controls.tsx';
import { ErrorPanel, Loading } from '../parts/screen.tsx';
import { Time } from '../parts/text.tsx';
import { inWords } from '../parts/words.ts';
import { bringBack, dryRunQuery, isRunning, type Period, replaysQuery } from './reads.ts';
import { eventsOf, reasonOf, tallyOf } from './words.ts';

interface Props {
  readonly endpoint: Endpoint;
  readonly period: Period;
  readonly replays: readonly Replay[];
  readonly onBegin: () => void;
}

/** Counts what is still missing in the range, and brings it back by one button. */
export function BringBack({ endpoint, period, replays, onBegin }: Props) {
  const client = useQueryClient();
  const { uuid, status } = endpoint;
  const isReader = useSession()?.access !== 'write';
  const ended = replays.find((replay) => !isRunning(replay))?.replay_uuid;
  const dryRun = useQuery({ ...dryRunQuery(uuid, period, ended), enabled: !isReader });
  const isActive = status === 'active';
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => bringBack(uuid, period, isActive),
    onMutate: onBegin,
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
  const { count, by_reason: reasons, by_type: types } = dryRun.data;
  const isBusy = isPending || dryRun.isPlaceholderData || replays.some(isRunning);
  return (
    <div className="stack bring-back" aria-busy={isBusy}>
      <p role="status" className="strong">
        {count === 0
          ? 'Nothing of this range is missing.'
          : `${eventsOf(count)} of this range ${count === 1 ? 'is' : 'are'} missing.`}
      </p>
      {count === 0 ? null : (
        <>
          <p className="facts">
            {tallyOf(reasons, reasonOf)}
            <br />
            {tallyOf(types)}
          </p>
          {isActive ? null : <WhyDisabled endpoint={endpoint} />}
          <Button kind="primary" disabled={isBusy} onClick={() => mutate()}>
            {isActive ? 'Bring' : 'Enable the endpoint, and bring'}{' '}
            {count === 1 ? 'this 1' : `these ${count.toLocaleString('en')}`} back
          </Button>
        </>
      )}
      <ErrorPanel error={error} />
    </div>
  );
}

function WhyDisabled({ endpoint }: { readonly endpoint: Endpoint }) {
  const { status, disabled_at: at, disabled_reason: reason, last_failure: failure } = endpoint;
  const isByHand = reason === 'manual' || failure === null;
  return (
    <p className="warning">
      The endpoint is {inWords(status)}
      {at === null ? '' : ' since '}
      {at === null ? null : <Time at={at} />}, so nothing is sent to it.
      {isByHand ? '' : ` Its last failure was ${failure.code}: mend your server first.`}
    </p>
  );
}
