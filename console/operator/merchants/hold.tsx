import { type FormEvent, useState } from 'react';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { useChange } from '../api.ts';

interface Props {
  readonly id: string;
  readonly state: string;
}

/** Puts a merchant on hold, or ends the hold. The reason is in the audit. */
export function Hold({ id, state }: Props) {
  const isPaused = state === 'paused';
  const { mutate, isPending, error } = useChange(isPaused ? 'merchants-resume' : 'merchants-pause');
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ id, reason: reason.trim() }, { onSuccess: () => setReason('') });
  };
  return (
    <>
      <form className="act" onSubmit={submit}>
        <label>
          Reason, for the audit
          <input
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            maxLength={255}
            autoComplete="off"
            required
          />
        </label>
        <button type="submit" disabled={isPending}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <p className="note">
          {isPaused
            ? 'Resuming sends what waits, oldest first.'
            : 'Pausing holds deliveries back. Nothing is lost, and no attempt is counted.'}
        </p>
      </form>
      {error ? <ErrorPanel error={error} /> : null}
    </>
  );
}
