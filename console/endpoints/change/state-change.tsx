import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Check } from '../../parts/controls.tsx';
import { ErrorPanel, Panel } from '../../parts/screen.tsx';
import { Time } from '../../parts/text.tsx';
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
    <Panel title={status === 'active' ? 'Disable or delete' : 'Enable or delete'}>
      {readOnly === undefined ? null : <p className="note">{readOnly}</p>}
      <div className="row from-top">
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
      <ErrorPanel error={error} />
    </Panel>
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
  const replay = isReplayed && since !== null ? { replay_since: since } : {};
  return (
    <Confirm does="Enable" {...state} onConfirm={() => onEnable({ status: 'active', ...replay })}>
      <ul>
        <li>Events that come from now on are sent to it.</li>
        <li>Its count of failures begins anew.</li>
      </ul>
      {since === null ? null : (
        <Check isOn={isReplayed} onChange={setReplayed}>
          Bring back what it has missed since <Time at={since} />
        </Check>
      )}
    </Confirm>
  );
}
