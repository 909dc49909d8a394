import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { openSession, type Session, signOut, useSignIn } from '../api/session.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Loading } from '../parts/loading.tsx';
import { useTitle } from '../parts/title.ts';
import { useEntryInSight } from '../shell/entry-in-sight.ts';
import { FindField } from '../shell/find-field.tsx';
import { Door } from '../shell/sign-in.tsx';
import { Way } from './parts/way.tsx';

/** The frame around every screen of the operator's console; without a session it asks for name and token. */
export function OperatorShell() {
  const { data, error, refetch } = useSignIn();
  if (data?.state === 'in') return <Frame session={data.session} />;
  if (data?.state === 'out') return <SignIn code={data.code} />;
  if (error) return <ErrorPanel error={error} retry={() => void refetch()} />;
  return <Loading />;
}

const SCREENS = [
  ['/now', 'Now'],
  ['/merchants', 'Merchants'],
  ['/quarantine', 'Quarantine'],
  ['/dead-letters', 'Dead letters'],
  ['/replays', 'Replays'],
  ['/audit', 'Audit'],
] as const;

function Frame({ session: { environment, person } }: { readonly session: Session }) {
  const client = useQueryClient();
  useEntryInSight();
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar operators">
        <Way to="/now" className="brand">
          hookrail <span className="kind">operator</span>
        </Way>
        <nav aria-label="Screens">
          {SCREENS.map(([to, name]) => (
            <Way key={to} to={to}>
              {name}
            </Way>
          ))}
        </nav>
        <FindField />
        <div className="who">
          <span className={`chip ${environment}`}>{environment}</span>
          <span className="merchant" title={person ?? undefined}>
            <Foreign text={person ?? ''} />
          </span>
          <button type="button" className="plain" onClick={() => void signOut(client)}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

const WHY: Readonly<Record<string, string>> = {
  operator_session_ended: 'Your session has ended, or the service has started again.',
  signed_out: 'You have signed out.',
};

function SignIn({ code }: { readonly code: string | undefined }) {
  useTitle('Sign in');
  const client = useQueryClient();
  const [person, setPerson] = useState('');
  const [token, setToken] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => openSession(client, { person, token: token.trim() }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  const why = WHY[code ?? ''];
  return (
    <Door title="Operator's console">
      {why === undefined ? null : <p>{why}</p>}
      <form className="operator-form" onSubmit={submit}>
        <label>
          Your name, for the audit
          <input
            value={person}
            onChange={(event) => setPerson(event.target.value)}
            maxLength={100}
            autoComplete="username"
            required
          />
        </label>
        <label>
          The operator's token
          <input
            type="password"
            value={token}
            onChange={(event) => setToken(event.target.value)}
            autoComplete="off"
            required
          />
        </label>
        {error ? <ErrorPanel error={error} /> : null}
        <button type="submit" className="primary" disabled={isPending}>
          {isPending ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <p className="note">
        The token is in <code>operator.token</code> of the service's data directory, or in the file that{' '}
        <code>HOOKRAIL_OPERATOR_TOKEN_FILE</code> names.
      </p>
    </Door>
  );
}
