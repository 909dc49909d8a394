import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import type { Endpoint } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { useReadOnly } from '../../parts/read-only.ts';
import { Time } from '../../parts/time.tsx';
import { deleteEndpoint, type EndpointChange, updateEndpoint, useChange } from './changes.ts';
import { Confirm } from './confirm.tsx';

interface Props {
  readonly endpoint: Endpoint;
  /** How many deliveries wait. */
  readonly waiting: number;
}

/** Enables, disables and deletes an endpoint. */
export function StateChange({ endpoint, waiting }: Props) {
  const readOnly = useReadOnly();
  const change = useChange((body: EndpointChange) => updateEndpoint(endpoint.uuid, body));
  const { data, error, isPending } = change;
  const confirmed = { isPending, whyNot: readOnly, onChange: change.mutate };
  const isActive = endpoint.status === 'active';
  return (
    <section className="panel">
      <h2>{isActive ? 'Disable or delete' : 'Enable or delete'}</h2>
      {readOnly === undefined ? null : <p className="note">{readOnly}</p>}
      <div className="state-changes">
        {isActive ? (
          <Disable waiting={waiting} {...confirmed} />
        ) : (
          <Enable key={endpoint.disabled_at} since={endpoint.disabled_at} {...confirmed} />
        )}
        <Delete uuid={endpoint.uuid} waiting={waiting} />
      </div>
      <p role="status">
        {data === undefined
          ? ''
          : data.status === 'active'
            ? 'The endpoint is enabled.'
            : 'The endpoint is disabled.'}
        {data?.replay_uuid === undefined ? '' : ' What it has missed is on its way.'}
      </p>
      {error ? <ErrorPanel error={error} /> : null}
    </section>
  );
}

function cancelled(waiting: number): string {
  if (waiting === 0) return 'No delivery waits at present, so none is cancelled.';
  return waiting === 1
    ? 'The delivery that waits is cancelled.'
    : `The ${waiting} deliveries that wait are cancelled.`;
}

interface ChangeProps {
  readonly isPending: boolean;
  readonly whyNot: string | undefined;
  readonly onChange: (body: EndpointChange) => void;
}

function Disable({ waiting, onChange, ...confirm }: ChangeProps & { readonly waiting: number }) {
  return (
    <Confirm does="Disable" {...confirm} onConfirm={() => onChange({ status: 'disabled' })}>
      <ul>
        <li>{cancelled(waiting)}</li>
        <li>Events are no longer sent to this endpoint. When you enable it, you can bring them back.</li>
        <li>URL, secret and filter stay as they are.</li>
      </ul>
    </Confirm>
  );
}

function Enable({ since, onChange, ...confirm }: ChangeProps & { readonly since: string | null }) {
  const [isReplayed, setReplayed] = useState(since !== null);
  const field = useId();
  const replay = isReplayed && since !== null ? { replay_since: since } : {};
  return (
    <Confirm does="Enable" {...confirm} onConfirm={() => onChange({ status: 'active', ...replay })}>
      <ul>
        <li>Events that come from now on are sent to it.</li>
        <li>Its count of failures begins anew.</li>
      </ul>
      {since === null ? null : (
        <p>
          <input
            id={field}
            type="checkbox"
            checked={isReplayed}
            onChange={({ target }) => setReplayed(target.checked)}
          />{' '}
          <label htmlFor={field}>
            Bring back what it has missed since <Time at={since} />
          </label>
        </p>
      )}
    </Confirm>
  );
}

function Delete({ uuid, waiting }: { readonly uuid: string; readonly waiting: number }) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useChange(async () => {
    await deleteEndpoint(uuid);
    await navigate({ to: '/endpoints' });
  });
  return (
    <div>
      <Confirm
        does="Delete"
        isDanger
        isPending={isPending}
        whyNot={useReadOnly()}
        onConfirm={() => mutate(undefined)}
      >
        <ul>
          <li>{cancelled(waiting)}</li>
          <li>The secret is gone: an endpoint made again for this URL gets another one.</li>
          <li>What it has missed cannot be brought back. To stop for a while, disable it instead.</li>
          <li>What was sent stays in the delivery log.</li>
        </ul>
      </Confirm>
      {error ? <ErrorPanel error={error} /> : null}
    </div>
  );
}
