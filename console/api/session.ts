import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { exchange, takeCsrf } from './api.ts';
import { forgetPlace, keepRefreshUrl } from './last-place.ts';
import { isSignedOut } from './refusal.ts';

export interface Session {
  readonly merchant_id: string;
  readonly merchant_name: string;
  readonly environment: 'sandbox' | 'production';
  readonly access: 'read' | 'write';
  readonly person: string | null;
  readonly expires_at: string;
  readonly csrf_token: string;
  /** Where the platform gives its merchant another link. */
  readonly refresh_url: string | null;
  /** When a failing endpoint is disabled. */
  readonly auto_disable: { readonly without_success_hours: number; readonly failed_attempts: number };
}

export type SignIn =
  | { readonly state: 'in'; readonly session: Session }
  | { readonly state: 'out'; readonly code: string | undefined };

const PATH = '/console/session';
const at = (init: RequestInit) => new Request(new URL(PATH, location.origin), init);
const KEY = ['session'];

function entered(session: Session): SignIn {
  takeCsrf(session.csrf_token);
  keepRefreshUrl(session.refresh_url);
  return { state: 'in', session };
}

async function read(): Promise<SignIn> {
  try {
    return entered(await (await exchange(at({ method: 'GET' }))).json());
  } catch (error) {
    if (isSignedOut(error)) return { state: 'out', code: error.code };
    throw error;
  }
}

const sessionQuery = queryOptions({ queryKey: KEY, queryFn: read, staleTime: Number.POSITIVE_INFINITY });

export function useSignIn() {
  return useQuery(sessionQuery);
}

/** Returns the session. Only screens behind the shell ask: it shows them to those who are signed in. */
export function useSession(): Session | undefined {
  const { data } = useSignIn();
  return data?.state === 'in' ? data.session : undefined;
}

/** Returns why this session changes nothing; undefined for one that may. */
export function useReadOnly(): string | undefined {
  return useSession()?.access === 'write' ? undefined : 'Your link is read-only.';
}

/** Signs in with what the service asks for: a link, or the name and token of an operator. */
export async function openSession(client: QueryClient, proof: Readonly<Record<string, string>>) {
  const [body, headers] = [JSON.stringify(proof), { 'content-type': 'application/json' }];
  const response = await exchange(at({ method: 'POST', body, headers }));
  client.setQueryData(KEY, entered(await response.json()));
}

/** Ends the session, here and at the service. */
export async function signOut(client: QueryClient): Promise<void> {
  try {
    await exchange(at({ method: 'DELETE' }));
  } catch (error) {
    if (!isSignedOut(error)) throw error;
  }
  forgetPlace();
  ended(client, 'signed_out');
}

/** Shows that the session is over, and forgets what was read with it. */
export function ended(client: QueryClient, code: string | undefined): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
  client.setQueryData(KEY, { state: 'out', code } satisfies SignIn);
}
