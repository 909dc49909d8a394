import { useState } from 'react';
import { Button } from '../../parts/controls.tsx';
import { ErrorPanel } from '../../parts/screen.tsx';
import { foreign } from '../../parts/text.tsx';
import { type Given, useChange } from '../api.ts';
import type { Replayed } from '../shapes.ts';

interface Props {
  readonly label: string;
  readonly given: Given;
}

/** Puts records back where they came from, after a second press. What would return stays. */
export function Replay({ label, given }: Props) {
  const [isAsked, setAsked] = useState(false);
  const { mutate, data, isPending, error } = useChange('quarantine-replay');
  const replay = () => mutate(given, { onSettled: () => setAsked(false) });
  if (data !== undefined && data.replayed > 0) return <Told data={data} />;
  return (
    <div className="row act">
      {isAsked ? (
        <>
          <Button kind="primary" disabled={isPending} onClick={replay}>
            Yes: {label}
          </Button>
          <Button kind="plain" onClick={() => setAsked(false)}>
            No
          </Button>
          <p className="note">An event that would come back stays where it is, and nothing is sent twice.</p>
        </>
      ) : (
        <Button onClick={() => setAsked(true)}>{label}</Button>
      )}
      <ErrorPanel error={error} />
      {data === undefined ? null : <Told data={data} />}
    </div>
  );
}

function Told({ data }: { readonly data: Replayed }) {
  return (
    <p role="status">
      {data.replayed} put back
      {data.refused === undefined ? '' : `, ${data.refused} refused`}
      {data.conflicts === undefined ? '' : `, ${data.conflicts.leftOut} conflicts left out`}.{' '}
      {foreign(data.refusals?.[0]?.detail ?? '')}
    </p>
  );
}
