import { useState } from 'react';
import { visible } from '../../services/domain/text/visible-text.ts';
import type { Session } from '../api/session.ts';
import { Brand, Frame, Gate, HelpLink } from './frame.tsx';
import { heldLink } from './link.ts';
import { OpenLink, SignedOut } from './sign-in.tsx';

/** The frame around every screen; without a session it shows how to get one. */
export function Shell() {
  const [link, setLink] = useState(heldLink);
  // No session is asked for while a link waits to be opened, which makes another one.
  if (link !== undefined) return <OpenLink link={link} onEnd={() => setLink(undefined)} />;
  return (
    <Gate
      inside={(session) => <MerchantFrame session={session} />}
      outside={(code) => <SignedOut code={code} />}
    />
  );
}

const SCREENS = [
  ['/live', 'Live'],
  ['/find', 'Find'],
  ['/missed', 'Missed'],
  ['/endpoints', 'Endpoints'],
  ['/catalogue', 'Catalogue'],
  ['/verify', 'Verify'],
] as const;

function MerchantFrame({ session }: { readonly session: Session }) {
  const { environment, person, access } = session;
  const name = visible(session.merchant_name);
  const screens = environment === 'sandbox' ? [...SCREENS, ['/play', 'Play'] as const] : SCREENS;
  const who = (
    <>
      {access === 'read' ? <span className="chip">read only</span> : null}
      <span className="kind merchant" title={person === null ? name : `${name}, ${visible(person)}`}>
        {name}
      </span>
      <HelpLink />
    </>
  );
  return <Frame session={session} brand={<Brand />} screens={screens} who={who} />;
}
