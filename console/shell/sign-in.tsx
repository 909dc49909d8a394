import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { keepPlace, lastRefreshUrl, takePlace } from '../api/last-place.ts';
import { isSignedOut } from '../api/refusal.ts';
import { openSession } from '../api/session.ts';
import { Button } from '../parts/controls.tsx';
import { ErrorPanel } from '../parts/screen.tsx';
import { Door } from './frame.tsx';
import { dropLink } from './link.ts';

const isFirstScreen = () => /^\/console\/(?:live)?$/.test(location.pathname) && location.search === '';

/** A link is spent by a press, not by a visit: previews of mails and chats visit. */
export function OpenLink({ link, onEnd }: { readonly link: string; readonly onEnd: () => void }) {
  const client = useQueryClient();
  const { history } = useRouter();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => openSession(client, { link }),
    onSuccess: () => {
      dropLink();
      // A link to a screen leads there; any other one back to where the last session ended.
      const place = isFirstScreen() ? takePlace() : undefined;
      if (place !== undefined) history.replace(place);
      onEnd();
    },
  });
  if (isSignedOut(error)) {
    return (
      <Door title="This link does not work">
        <p>
          It was used already, is too old, or is not complete. Ask the person or the page that gave it to you
          for another one.
        </p>
        <Button
          onClick={() => {
            dropLink();
            onEnd();
          }}
        >
          Continue
        </Button>
      </Door>
    );
  }
  return (
    <Door title="Webhook console">
      <p>See each webhook that was sent to your endpoints, what your server answered, and what comes next.</p>
      <ErrorPanel error={error} />
      <Button kind="primary" busy={isPending && 'Opening…'} onClick={() => mutate()}>
        Open
      </Button>
      <p className="note">The link works once. This browser stays signed in until the session ends.</p>
    </Door>
  );
}

const WHY: Readonly<Record<string, string>> = {
  portal_session_ended: 'Your session has ended.',
  signed_out: 'You have signed out.',
};

/** The console has no passwords: the platform gives its merchants links. */
export function SignedOut({ code }: { readonly code: string | undefined }) {
  const refreshUrl = lastRefreshUrl();
  useEffect(() => {
    if (code !== 'signed_out') keepPlace();
  }, [code]);
  return (
    <Door title="Webhook console">
      <p>{WHY[code ?? ''] ?? 'You are not signed in.'}</p>
      <p>The console is opened by a link, which your account at the payments platform gives you.</p>
      {refreshUrl === null ? null : (
        <a className="button primary" href={refreshUrl} rel="noreferrer">
          Get a new link
        </a>
      )}
    </Door>
  );
}
