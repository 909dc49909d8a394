import { Copy } from './copy.tsx';
import { Foreign } from './foreign.tsx';

/** An id, whole, with a button that copies it. */
export function Id({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <span className="id">
      <code>
        <Foreign text={id} />
      </code>{' '}
      <Copy text={id} what={what} />
    </span>
  );
}
