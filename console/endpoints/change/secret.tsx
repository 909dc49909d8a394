import { formatDuration } from '../../../client/duration.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Copy } from '../../parts/controls.tsx';
import { useNow } from '../../parts/text.tsx';

const MINUTE_MS = 60_000;

/** Says how old the secret in force is. */
export function SecretAge({ endpoint }: { readonly endpoint: Endpoint }) {
  const { secret_rotated_at: rotated, created_at: created } = endpoint;
  const ageMs = useNow() - Date.parse(rotated ?? created);
  return <>{ageMs < MINUTE_MS ? 'less than a minute' : formatDuration(ageMs)} old</>;
}

interface SecretOnceProps {
  readonly secret: string;
  /** The button that gives another one. */
  readonly ifLost?: string;
}

/** A secret that no other response has. */
export function SecretOnce({ secret, ifLost = 'rotate the secret for another one' }: SecretOnceProps) {
  return (
    <div className="secret-once">
      <p>
        <code>{secret}</code> <Copy text={secret} what="the secret" />
      </p>
      <p className="warning">It is shown only here and only now. If it is lost, {ifLost}.</p>
    </div>
  );
}
