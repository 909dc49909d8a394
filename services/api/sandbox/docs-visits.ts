import type { IncomingMessage } from 'node:http';
import { DOCS_PASS_RANDOM_BYTES, docsPassTime, newDocsPass } from '../../domain/access/docs-pass.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import type { SandboxAccess } from '../reference.ts';
import { hostOf, isDirect } from './direct-request.ts';

/** A link is opened soon after it is printed. */
const LINK_MS = 15 * 60_000;
/** A visit outlives restarts of the sandbox, which keeps its keys; it ends when the keys are replaced. */
const VISIT_MS = 7 * 86_400_000;
const SECOND_MS = 1000;
/** Passes have whole seconds, and the clocks of two processes agree to a fraction of one. */
const ROUNDING_MS = 2 * SECOND_MS;

type Request = Pick<IncomingMessage, 'headers' | 'httpVersion' | 'socket'>;

/**
 * Remembers the browsers that may see the sandbox's keys in /docs: those that opened a link which the owner of sandbox.env printed.
 * All times are the system's, because another process signs links.
 */
export class DocsVisits {
  readonly #access: SandboxAccess;
  readonly #clock: Pick<Clock, 'wall' | 'system'>;
  readonly #random: Pick<Random, 'bytes'>;
  /** A link from before the start may have been used then. */
  readonly #since: number;
  /** The links that were used, and when they become too old. */
  readonly #used = new Map<string, number>();

  constructor(access: SandboxAccess, clock: Pick<Clock, 'wall' | 'system'>, random: Pick<Random, 'bytes'>) {
    this.#access = access;
    this.#clock = clock;
    this.#random = random;
    this.#since = this.#now() - ROUNDING_MS;
  }

  /** Returns the Set-Cookie header for who opens a link; null when the link is not valid, or not any more. */
  enter(link: string, request: Request): string | null {
    const now = this.#now();
    for (const [used, until] of this.#used) if (until < now) this.#used.delete(used);
    const made = docsPassTime('link', this.#access, link);
    if (made === null || !isDirect(request) || this.#used.has(link)) return null;
    if (made < this.#since || made > now + ROUNDING_MS || made + LINK_MS < now) return null;
    this.#used.set(link, made + LINK_MS);
    const visit = newDocsPass('visit', this.#access, now, this.#random.bytes(DOCS_PASS_RANDOM_BYTES));
    return `${cookieName(request)}=${visit}; Path=/docs; HttpOnly; SameSite=Strict; Max-Age=${VISIT_MS / SECOND_MS}`;
  }

  /** Returns whether a request comes from a browser that opened a link, and straight from it. */
  has(request: Request): boolean {
    if (!isDirect(request)) return false;
    const name = cookieName(request);
    const now = this.#now();
    return (request.headers.cookie ?? '').split(/; */).some((cookie) => {
      if (!cookie.startsWith(`${name}=`)) return false;
      const made = docsPassTime('visit', this.#access, cookie.slice(name.length + 1));
      return made !== null && made <= now + ROUNDING_MS && now <= made + VISIT_MS;
    });
  }

  #now(): number {
    return this.#clock.system(this.#clock.wall());
  }
}

/** Browsers send a cookie to every port of a host, and two sandboxes on one machine must not replace each other's. */
function cookieName({ headers }: Request): string {
  return `hookrail_docs_${hostOf(headers.host)?.port || '80'}`;
}
