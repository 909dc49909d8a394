import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import type { Endpoint } from '../../api/shapes.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { useReadOnly } from '../../parts/read-only.ts';
import { Time } from '../../parts/time.tsx';
import type { Owed } from '../endpoint-reads.ts';
import { waitingWords } from '../verdict.tsx';
import { deleteEndpoint, type EndpointChange, updateEndpoint, useChange } from './changes.ts';
import { Confirm } from './confirm.tsx';

interface Props {
  readonly endpoint: Endpoint;
  readonly waiting: Owed | undefined;
}

/** Enables, disables and deletes an endpoint. */
export function StateChange({ endpoint, waiting }: Props) {
  const { uuid, disabled_at: since, status } = endpoint;
  const navigate = useNavigate();
  const readOnly = useReadOnly();
  const change = useChange((body: EndpointChange) => updateEndpoint(uuid, body));
  const remove = useChange(async () => {
    await deleteEndpoint(uuid);
    await navigate({ to: '/endpoints' });
  });
  const { data } = change;
  const error = change.error ?? remove.error;
  const cancelled = `Deliveries that wait are cancelled: ${waitingWords(waiting)}.`;
  const state = { isPending: change.isPending || remove.isPending, whyNot: readOnly };
  return (
    <section className="panel">
      <h2>{status === 'active' ? 'Disable or delete' : 'Enable or delete'}</h2>
      {readOnly === undefined ? null : <p className="note">{readOnly}</p>}
      <div className="endpoint-head from-left">
        {status === 'active' ? (
          <Confirm does="Disable" {...state} onConfirm={() => change.mutate({ status: 'disabled' })}>
            <ul>
              <li>{cancelled}</li>
              <li>Events are no longer sent to it. When you enable it, you can bring them back.</li>
              <li>URL, secret and filter stay as they are.</li>
            </ul>
          </Confirm>
        ) : (
          <Enable key={since} since={since} {...state} onEnable={change.mutate} />
        )}
        <Confirm does="Delete" isDanger {...state} onConfirm={() => remove.mutate(undefined)}>
          <ul>
            <li>{cancelled}</li>
            <li>The secret is gone: an endpoint made again for this URL gets another one.</li>
            <li>What it has missed cannot be brought back. To stop for a while, disable it instead.</li>
            <li>What was sent stays in the delivery log.</li>
          </ul>
        </Confirm>
      </div>
      <p role="status">
        {data && `The endpoint is ${data.status === 'active' ? 'enabled' : 'disabled'}.`}
        {data?.replay_uuid && ' What it has missed is on its way.'}
      </p>
      {error ? <ErrorPanel error={error} /> : null}
    </section>
  );
}

interface EnableProps {
  readonly since: string | null;
  readonly isPending: boolean;
  readonly whyNot: string | undefined;
  readonly onEnable: (body: EndpointChange) => void;
}

function Enable({ since, onEnable, ...state }: EnableProps) {
  const [isReplayed, setReplayed] = useState(true);
  const box = useId();
  const replay = isReplayed && since !== null ? { replay_since: since } : {};
  return (
    <Confirm does="Enable" {...state} onConfirm={() => onEnable({ status: 'active', ...replay })}>
      <ul>
        <li>Events that come from now on are sent to it.</li>
        <li>Its count of failures begins anew.</li>
      </ul>
      {since === null ? null : (
        <p>
          <input id={box} type="checkbox" checked={isReplayed} onChange={() => setReplayed(!isReplayed)} />{' '}
          <label htmlFor={box}>
            Bring back what it has missed since <Time at={since} />
          </label>
        </p>
      )}
    </Confirm>
  );
}
