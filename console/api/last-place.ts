/**
 * The tab's memory of a session that has ended: where the person was, and which page of the platform gives new links. It
 * outlives a reload and the way over the platform's page, and ends with the tab.
 */
interface Kept {
  /** Path and query of a screen. */
  readonly place: string | null;
  readonly refreshUrl: string | null;
}

const KEY = 'hookrail_last';
const NOTHING: Kept = { place: null, refreshUrl: null };

/** A browser that blocks cookies of other sites denies a page in a frame this storage, and leaves it a cookie of its own there. */
const STORES = [
  {
    read: () => sessionStorage.getItem(KEY),
    write: (text: string) => sessionStorage.setItem(KEY, text),
  },
  {
    read: () => decodeURIComponent(document.cookie.match(`(?:^|; )${KEY}=([^;]*)`)?.[1] ?? ''),
    write: (text: string) => {
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
      document.cookie = `${KEY}=${encodeURIComponent(text)}; Path=/console/; Secure; SameSite=None; Partitioned`;
    },
  },
];

/** Returns the result of the first store that the browser allows. */
function allowed<Result>(use: (store: (typeof STORES)[number]) => Result): Result | undefined {
  for (const store of STORES) {
    try {
      return use(store);
    } catch {
      // Denied: the next one, or the next session begins with the first screen.
    }
  }
  return undefined;
}

function kept(): Kept {
  return { ...NOTHING, ...JSON.parse(allowed(({ read }) => read()) || '{}') };
}

function keep(change: Partial<Kept>): void {
  const text = JSON.stringify({ ...kept(), ...change });
  allowed(({ write }) => write(text));
}

/** Remembers where the platform gives its merchant another link. */
export function keepRefreshUrl(refreshUrl: string | null): void {
  keep({ refreshUrl });
}

/** Returns where the last session of this tab said that another link is given. */
export function lastRefreshUrl(): string | null {
  const { refreshUrl } = kept();
  return refreshUrl?.startsWith('https://') ? refreshUrl : null;
}

/** Remembers the screen that the address names. */
export function keepPlace(): void {
  keep({ place: location.pathname + location.search });
}

/** Forgets the screen: the person has left. */
export function forgetPlace(): void {
  keep({ place: null });
}

/** Returns the screen to come back to, once; undefined when there is none. */
export function takePlace(): string | undefined {
  const { place } = kept();
  forgetPlace();
  return place?.startsWith('/console/') ? place : undefined;
}
