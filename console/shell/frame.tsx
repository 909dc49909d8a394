import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { type Session, signOut, useSignIn } from '../api/session.ts';
import { Button, Form } from '../parts/controls.tsx';
import { ErrorPanel, Loading, pageSetting, Way } from '../parts/screen.tsx';

/** The name of the console, or the logo in its place, as the operator of the service has set it. */
export function Brand() {
  const [name, logo] = [pageSetting('name'), pageSetting('logo')];
  return logo === '' ? name : <img src={logo} alt={name} />;
}

/** Leads to the platform's page of help, where there is one. */
export function HelpLink() {
  const address = pageSetting('help');
  if (address === '') return null;
  return (
    <a className="kind" href={address} target="_blank" rel="noreferrer">
      Help
    </a>
  );
}

/** A page for those who are not signed in. */
export function Door({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <main className="door">
      <section className="panel">
        <p className="brand">
          <Brand />
        </p>
        <h1>{title}</h1>
        {children}
        <HelpLink />
      </section>
    </main>
  );
}

interface GateProps {
  readonly inside: (session: Session) => ReactNode;
  /** `code`: why there is no session. */
  readonly outside: (code: string | undefined) => ReactNode;
}

/** Shows the console to those who are signed in, and to others how to get in. */
export function Gate({ inside, outside }: GateProps) {
  const { data, error, refetch } = useSignIn();
  if (data?.state === 'in') return inside(data.session);
  if (data?.state === 'out') return outside(data.code);
  return error ? <ErrorPanel error={error} retry={() => void refetch()} /> : <Loading />;
}

interface FrameProps {
  readonly session: Session;
  readonly brand: ReactNode;
  /** Addresses and names of the screens; the first is the one to begin with. */
  readonly screens: readonly (readonly [to: string, name: string])[];
  readonly className?: string;
  /** The one who is signed in. */
  readonly who: ReactNode;
}

/** The frame around every screen. */
export function Frame({ session: { environment }, brand, screens, className = '', who }: FrameProps) {
  const client = useQueryClient();
  useEntryInSight();
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className={`bar ${className}`}>
        <Way to={screens[0]?.[0] ?? '/'} className="brand">
          {brand}
        </Way>
        <nav aria-label="Screens">
          {screens.map(([to, name]) => (
            <Way key={to} to={to}>
              {name}
            </Way>
          ))}
        </nav>
        <FindField />
        <div className="who">
          <span className={`chip ${environment}`}>{environment}</span>
          {who}
          <Button kind="plain" onClick={() => void signOut(client)}>
            Sign out
          </Button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

/** Keeps the entry of the present screen in sight where the row of screens scrolls. */
function useEntryInSight(): void {
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    const row = document.querySelector<HTMLElement>('.bar nav');
    const entry = row?.querySelector<HTMLElement>('.active');
    if (path === '' || !row || !entry) return;
    // scrollIntoView() would also move the place from which Tab goes on.
    const before = entry.offsetLeft - row.offsetLeft;
    row.scrollLeft = before - (row.clientWidth - entry.offsetWidth) / 2;
  }, [path]);
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** One field for any id; ⌘K or Ctrl-K goes to it from everywhere. */
function FindField() {
  const field = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const find = () => {
    const id = field.current?.value.trim() ?? '';
    if (id === '') return;
    field.current?.blur();
    void navigate({ to: '/find/$id', params: { id } });
  };
  return (
    <search className="find">
      <Form onSubmit={find}>
        <input
          ref={field}
          type="text"
          aria-label="Find any id"
          aria-keyshortcuts="Meta+K Control+K"
          placeholder="Find any id: transaction, user, event, delivery…"
          maxLength={128}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="search"
        />
        <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </Form>
    </search>
  );
}
