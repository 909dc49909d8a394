import { Copy } from './copy.tsx';

/** An id, whole, with a button that copies it. */
export function Id({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <span className="id">
      <code>{id}</code> <Copy text={id} what={what} />
    </span>
  );
}
