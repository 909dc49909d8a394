import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Button } from '../../parts/controls.tsx';
import { ErrorPanel } from '../../parts/screen.tsx';
import { Time } from '../../parts/text.tsx';
import { discardPrepared, prepareSecret, useChange, useSecretChange } from './changes.ts';
import { SecretOnce } from './secret.tsx';

/** Prepares the secret that the next rotation puts in force, or discards it. */
export function PrepareSecret({ endpoint }: { readonly endpoint: Endpoint }) {
  const { uuid, prepared_secret_hint: hint, secret_prepared_at: at } = endpoint;
  const readOnly = useReadOnly();
  const prepare = useSecretChange((key) => prepareSecret(uuid, key));
  const discard = useChange<void, unknown>(() => discardPrepared(uuid));
  const isOff = readOnly !== undefined || prepare.isPending || discard.isPending;
  const error = prepare.error ?? discard.error;
  const shown = prepare.data?.prepared_secret_hint === hint ? prepare.data : undefined;
  return (
    <>
      {hint === null ? null : (
        <p className="facts">
          Prepared: <code>{hint}</code>
          {at === null ? null : (
            <>
              {' · '}
              <Time at={at} />
            </>
          )}
        </p>
      )}
      {shown ? <SecretOnce secret={shown.signing_secret} ifLost="prepare another one" /> : null}
      <p className="row">
        <Button busy={prepare.isPending && 'Preparing…'} disabled={isOff} onClick={() => prepare.mutate()}>
          {hint === null ? 'Prepare a secret' : 'Prepare another one'}
        </Button>
        {hint === null ? null : (
          <Button disabled={isOff} onClick={() => discard.mutate()}>
            Discard it
          </Button>
        )}
        {readOnly === undefined ? null : <span className="note">{readOnly}</span>}
      </p>
      <ErrorPanel error={error} />
    </>
  );
}
