import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { openSession } from '../api/session.ts';
import { Button, Field, Form } from '../parts/controls.tsx';
import { ErrorPanel, useTitle } from '../parts/screen.tsx';
import { foreign } from '../parts/text.tsx';
import { Door, Frame, Gate } from '../shell/frame.tsx';

const SCREENS = [
  ['/now', 'Now'],
  ['/merchants', 'Merchants'],
  ['/quarantine', 'Quarantine'],
  ['/dead-letters', 'Dead letters'],
  ['/replays', 'Replays'],
  ['/audit', 'Audit'],
] as const;

const BRAND = (
  <>
    hookrail <span className="kind">operator</span>
  </>
);

/** The frame around every screen of the operator's console; without a session it asks for name and token. */
export function OperatorShell() {
  return (
    <Gate
      inside={(session) => {
        const { person } = session;
        const who = (
          <span className="kind merchant" title={person ?? undefined}>
            {foreign(person ?? '')}
          </span>
        );
        return <Frame className="operators" brand={BRAND} screens={SCREENS} {...{ session, who }} />;
      }}
      outside={(code) => <SignIn code={code} />}
    />
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
  const why = WHY[code ?? ''];
  const name = { label: 'Your name, for the audit', maxLength: 100, autoComplete: 'username' };
  return (
    <Door title="Operator's console">
      {why === undefined ? null : <p>{why}</p>}
      <Form className="stack operator-form" onSubmit={() => mutate()}>
        <Field {...name} value={person} onChange={setPerson} required />
        <Field label="The operator's token" type="password" value={token} onChange={setToken} required />
        <ErrorPanel error={error} />
        <Button type="submit" kind="primary" busy={isPending && 'Signing in…'}>
          Sign in
        </Button>
      </Form>
      <p className="note">
        The token is in <code>operator.token</code> of the service's data directory, or in the file that{' '}
        <code>HOOKRAIL_OPERATOR_TOKEN_FILE</code> names.
      </p>
    </Door>
  );
}
