import { request } from 'node:https';
import { withoutTrailing } from '../../services/domain/text/trimmed.ts';
import { ApiRefusal } from '../client/api-refusal.ts';
import { type EndpointAnswer, MerchantApi } from '../client/merchant-api.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { type Authority, openAuthority } from '../receiver/certificate-authority.ts';
import { type HttpsServer, orCannotListen, startHttpsServer } from '../receiver/https-server.ts';
import {
  disableEndpoint,
  ENDPOINT_IN_FORCE_MS,
  ensureEndpoint,
  ignoreNotFound,
  KeptEndpoint,
  type ReadyEndpoint,
  type WantedEndpoint,
} from '../receiver/kept-endpoint.ts';
import { receiverCertificate } from '../receiver/receiver-certificate.ts';
import { type CommandOptions, Session, type Surroundings } from '../session.ts';
import { Attempts } from './attempts.ts';
import { followStream, type StreamNews } from './delivery-stream.ts';
import type { ForwardTarget } from './forward-target.ts';
import { type Entry, Intake, LISTENER_PATH } from './intake.ts';
import { listenDescription } from './listen-endpoint.ts';

export interface ListenerOptions {
  readonly target: ForwardTarget;
  readonly events: WantedEndpoint['events'];
  readonly apiVersion: WantedEndpoint['apiVersion'];
  readonly skipVerify: boolean;
  /** The port to listen on; undefined: that of the last run, or any free one. */
  readonly port: number | undefined;
}

/** Something that a listener reports besides the requests. */
export interface ListenerReports {
  readonly onEntry: (entry: Entry) => void;
  readonly onLost: (reason: string) => void;
  readonly onReadyAgain: (ready: ReadyListener) => void;
  /** Another command has changed the endpoint: events may not arrive any more. */
  readonly onEndpoint: (change: EndpointTrouble) => void;
}

export type EndpointTrouble =
  | { readonly kind: 'active' }
  | { readonly kind: 'deleted' | 'rotated'; readonly uuid: string }
  | { readonly kind: 'disabled'; readonly uuid: string; readonly status: string; readonly reason: string };

export interface ReadyListener extends ReadyEndpoint {
  readonly url: string;
  /** RFC 3339: the events since then that were not delivered are `missed`. */
  readonly since: string;
  /** null when the API does not say. */
  readonly missed: number | null;
}

const HOST = '127.0.0.1';
const PROBE_MS_MAX = 2000;
const SETTLE_MS_MAX = 5000;

/** An HTTPS receiver with an endpoint of its own that sends every webhook on to the developer's app. */
export class Listener {
  readonly #options: CommandOptions;
  readonly #surroundings: Surroundings;
  readonly #wanted: ListenerOptions;
  readonly #reports: ListenerReports;
  readonly #kept: KeptEndpoint;
  readonly #attempts = new Attempts();
  readonly #intake: Intake;
  #session: Session;
  #authority: Authority | undefined;
  #server: HttpsServer | undefined;
  #ready: ReadyListener | undefined;
  #trouble: EndpointTrouble['kind'] = 'active';
  /** The endpoint is being made as it is wanted: its changes are our own. */
  #isRegistering = false;

  constructor(session: Session, options: CommandOptions, wanted: ListenerOptions, reports: ListenerReports) {
    this.#session = session;
    this.#options = options;
    this.#surroundings = session.surroundings;
    this.#wanted = wanted;
    this.#reports = reports;
    const { target, skipVerify } = wanted;
    this.#kept = keptListener(session, target);
    const { onEntry } = reports;
    this.#intake = new Intake({ target, attempts: this.#attempts, skipVerify, onEntry });
  }

  /** The API as it is now; a request is refused at once when the rate limit is reached. */
  get api(): MerchantApi {
    return new MerchantApi(this.#session.impatientApi());
  }

  /** Listens, and makes the endpoint. Rejects with a failure that says what to do. */
  async start(): Promise<ReadyListener> {
    const { dataDir } = this.#session.settings;
    this.#authority = await openAuthority(dataDir);
    await mustBeAlone(this.#kept, this.#wanted.target, this.#authority);
    this.#server = await this.#listen(this.#authority);
    this.#kept.change({ port: this.#server.port });
    this.#ready = await this.#register(new MerchantApi(this.#session.api()));
    return this.#ready;
  }

  /** Follows the API until Ctrl-C; `isFirst` resolves when the first connection is open, or has failed. */
  follow(onFirst: () => void): Promise<void> {
    const { signal } = this.#session;
    return followStream({
      access: () => {
        const { settings } = this.#session;
        const { baseUrl, key: apiKey } = settings.connection('apiKey');
        return { baseUrl, apiKey };
      },
      pause: (ms) => this.#session.pause(ms),
      signal,
      onNews: (news) => this.#hear(news),
      onOpen: async (isAgain) => {
        if (isAgain) await this.#startAgain();
        this.#attempts.isOpen = true;
        onFirst();
      },
      onLost: (reason) => {
        this.#attempts.isOpen = false;
        this.#reports.onLost(reason);
        onFirst();
        // The sandbox that answers next may have other keys, and another address.
        this.#session = new Session(this.#options, this.#surroundings);
      },
    });
  }

  /** Disables the endpoint, and ends when the requests that are open have their answers. Rejects when it cannot. */
  async close(): Promise<void> {
    try {
      if (this.#ready !== undefined)
        await disableEndpoint(new MerchantApi(this.#session.lastingApi()), this.#kept);
    } finally {
      this.#attempts.isOpen = false;
      await Promise.race([this.#intake.settled(), afterMs(SETTLE_MS_MAX)]);
      await this.#server?.close();
    }
  }

  async #listen(authority: Authority): Promise<HttpsServer> {
    const { certPem: cert, keyPem: key } = await receiverCertificate(authority, HOST);
    const onRequest = this.#intake.take.bind(this.#intake);
    const startOn = (port: number) => startHttpsServer({ host: HOST, port, cert, key, onRequest });
    const { port } = this.#wanted;
    if (port !== undefined) return orCannotListen(startOn(port), HOST, port);
    const last = this.#kept.read().port;
    if (last !== undefined) {
      const again = await startOn(last).catch(() => undefined);
      if (again !== undefined) return again;
    }
    return orCannotListen(startOn(0), HOST, 0);
  }

  async #register(api: MerchantApi): Promise<ReadyListener> {
    const { target, events, apiVersion } = this.#wanted;
    const startedAt = new Date(await api.now()).toISOString();
    const url = new URL(this.#kept.name, this.#server?.url).href;
    const description = listenDescription(target.url);
    const endpoint = await ensureEndpoint(api, this.#kept, { url, description, events, apiVersion });
    this.#intake.secret = endpoint.secret;
    if (endpoint.isChanged) await this.#session.pause(ENDPOINT_IN_FORCE_MS);
    const { since = startedAt } = this.#kept.read();
    const missed = endpoint.origin === 'new' ? 0 : await this.#missedSince(endpoint.uuid, since);
    // What waits for a retry now may be missed later.
    if (missed === 0 && !(await hasOpen(api, endpoint.uuid))) this.#kept.change({ since: startedAt });
    return { ...endpoint, url, since, missed };
  }

  async #missedSince(uuid: string, since: string): Promise<number | null> {
    return this.api.countReplay(uuid, { since, only: 'missing' }).catch((error: unknown) => {
      if (error instanceof ApiRefusal) return null;
      throw error;
    });
  }

  /** The sandbox has started again: its authority, its keys and the endpoint may not be those of before. */
  async #startAgain(): Promise<void> {
    const authority = await openAuthority(this.#session.settings.dataDir);
    if (authority.certPem !== this.#authority?.certPem) {
      this.#authority = authority;
      this.#server?.setCertificate(await receiverCertificate(authority, HOST));
    }
    this.#isRegistering = true;
    this.#ready = await this.#register(this.api).finally(() => {
      this.#isRegistering = false;
    });
    this.#trouble = 'active';
    this.#reports.onReadyAgain(this.#ready);
  }

  #hear(news: StreamNews): void {
    if (news.data.endpoint_uuid !== this.#ready?.uuid) return;
    if (news.event === 'attempt') this.#attempts.add(news.data);
    // When it fails, the stream is about to end too.
    if (news.event === 'endpoint_changed' && !this.#isRegistering)
      this.#look(news.data.endpoint_uuid).catch(() => {});
  }

  /** Looks whether the endpoint is still as this listener needs it. */
  async #look(uuid: string): Promise<void> {
    const endpoint = await this.api.endpoint(uuid).catch(ignoreNotFound);
    const trouble = troubleOf(uuid, endpoint, this.#ready);
    if (trouble.kind === this.#trouble || this.#session.signal.aborted) return;
    this.#trouble = trouble.kind;
    this.#reports.onEndpoint(trouble);
  }
}

/** Returns the file of the endpoint that forwards to an address. */
export function keptListener({ settings }: Session, { url }: ForwardTarget): KeptEndpoint {
  return new KeptEndpoint(settings.dataDir, url.href);
}

/** Throws when another process listens for the same address: each would take events from the other. */
export async function mustBeAlone(
  kept: KeptEndpoint,
  { url }: ForwardTarget,
  authority: Authority,
): Promise<void> {
  const pid = await otherListener(kept, url, authority);
  if (pid === undefined) return;
  const message = `another sim listen forwards to ${url.href} already (process ${pid})`;
  throw new CommandFailure(EXIT.usage, message, [
    'stop it there, or forward to another address',
    `its secret: hookrail sim listen --forward-to ${url.href} --print-secret`,
  ]);
}

/** Returns the process that listens on the port of the last run for the same address; undefined: none. */
async function otherListener(
  kept: KeptEndpoint,
  forwardTo: URL,
  { certPem }: Authority,
): Promise<number | undefined> {
  const { port } = kept.read();
  if (port === undefined) return undefined;
  const answer = await get(`https://${HOST}:${port}${LISTENER_PATH}`, certPem);
  try {
    const { forward_to, pid } = JSON.parse(answer);
    return forward_to === forwardTo.href ? Number(pid) : undefined;
  } catch {
    // Nobody, or another program, which does not know the path.
    return undefined;
  }
}

function get(url: string, ca: string): Promise<string> {
  return new Promise((resolve) => {
    const none = () => resolve('');
    const outgoing = request(url, { ca, agent: false, timeout: PROBE_MS_MAX }, async (incoming) => {
      resolve(Buffer.concat(await incoming.toArray().catch(() => [])).toString());
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', none).on('close', none).end();
  });
}

/** Returns whether deliveries of an endpoint wait for an attempt. */
async function hasOpen(api: MerchantApi, uuid: string): Promise<boolean> {
  for (const status of ['failed', 'pending'] as const) {
    if ((await api.deliveries({ endpoint_uuid: uuid, status, limit: 1 })).length > 0) return true;
  }
  return false;
}

function troubleOf(
  uuid: string,
  endpoint: EndpointAnswer | undefined,
  ready: ReadyListener | undefined,
): EndpointTrouble {
  if (endpoint === undefined) return { kind: 'deleted', uuid };
  const { status, disabled_reason: reason, secret_hint: hint } = endpoint;
  if (status !== 'active') return { kind: 'disabled', uuid, status, reason: reason ?? '' };
  // The hint is the last characters of the secret, without its padding.
  const isOurs = ready !== undefined && withoutTrailing(ready.secret, '=').endsWith(hint.replace('…', ''));
  return isOurs ? { kind: 'active' } : { kind: 'rotated', uuid };
}

function afterMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
