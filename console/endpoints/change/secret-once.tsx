import { Copy } from '../../parts/copy.tsx';

/** A secret that no other response has. */
export function SecretOnce({ secret }: { readonly secret: string }) {
  return (
    <div className="secret-once">
      <p>
        <code>{secret}</code> <Copy text={secret} what="the secret" />
      </p>
      <p className="warning">
        It is shown only here and only now. If it is lost, rotate the secret for another one.
      </p>
    </div>
  );
}
