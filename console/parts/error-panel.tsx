import { Refusal } from '../api/refusal.ts';
import { Copy } from './copy.tsx';
import { Foreign } from './foreign.tsx';

/** Shows an error in the words of the API, with the id of the request for support. */
export function ErrorPanel({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const isRefused = error instanceof Refusal;
  // An id that nothing has is an answer, not a fault.
  const isAnswer = isRefused && error.status === 404;
  return (
    <section className={isAnswer ? 'panel answer' : 'panel error'} role="alert">
      <h2>{isRefused ? error.title : 'This did not work'}</h2>
      <p>
        <Foreign text={error.message} />
      </p>
      {isRefused && error.requestId !== null ? (
        <p className="note">
          Request <code>{error.requestId}</code> <Copy text={error.requestId} what="the request id" />
          {error.code === undefined ? null : <> · {error.code}</>}
        </p>
      ) : null}
      {retry === undefined || isAnswer ? null : (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </section>
  );
}
