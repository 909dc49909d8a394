import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { visible } from '../../services/domain/text/visible-text.ts';
import { type Session, signOut, useSignIn } from '../api/session.ts';
import { Brand, HelpLink } from '../parts/brand.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Loading } from '../parts/loading.tsx';
import { useEntryInSight } from './entry-in-sight.ts';
import { FindField } from './find-field.tsx';
import { heldLink } from './link.ts';
import { OpenLink, SignedOut } from './sign-in.tsx';

/** The frame around every screen; without a session it shows how to get one. */
export function Shell() {
  const [link, setLink] = useState(heldLink);
  const { data, error, refetch } = useSignIn(link === undefined);
  if (link !== undefined) return <OpenLink link={link} onEnd={() => setLink(undefined)} />;
  if (data?.state === 'in') return <Frame session={data.session} />;
  if (data?.state === 'out') return <SignedOut code={data.code} />;
  if (error) return <ErrorPanel error={error} retry={() => void refetch()} />;
  return <Loading />;
}

function Frame({ session }: { readonly session: Session }) {
  const client = useQueryClient();
  useEntryInSight();
  const { environment, person, access } = session;
  const name = visible(session.merchant_name);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <Link to="/live" className="brand">
          <Brand />
        </Link>
        <nav aria-label="Screens">
          <Link to="/live">Live</Link>
          <Link to="/find">Find</Link>
          <Link to="/missed">Missed</Link>
          <Link to="/endpoints">Endpoints</Link>
          <Link to="/catalogue">Catalogue</Link>
          <Link to="/verify">Verify</Link>
          {environment === 'sandbox' ? <Link to="/play">Play</Link> : null}
        </nav>
        <FindField />
        <div className="who">
          <span className={`chip ${environment}`}>{environment}</span>
          {access === 'read' ? <span className="chip">read only</span> : null}
          <span className="merchant" title={person === null ? name : `${name}, ${visible(person)}`}>
            {name}
          </span>
          <HelpLink />
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
