import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiVersion } from '../../services/domain/endpoint.ts';
import type { EventType } from '../../services/domain/event.ts';
import { secretHint } from '../../services/domain/secret.ts';
import { ApiRefusal } from '../client/api-refusal.ts';
import type { EndpointAnswer, EndpointChange, MerchantApi } from '../client/merchant-api.ts';

/** Everything that is kept of an endpoint between two runs. */
export interface Kept {
  /** The endpoint's purpose: the address that a listener forwards to, or the receiver. */
  readonly for: string;
  readonly port?: number | undefined;
  readonly endpoint?: string | undefined;
  readonly secret?: string | undefined;
  /** RFC 3339: what was not delivered since then may be missing. */
  readonly since?: string | undefined;
}

const FOLDER = 'listeners';

/**
 * A file of the data directory with an endpoint of this machine: its secret stays the same from run to run. One file for
 * each, so that two commands never write the same one; readable by the owner only, because it has a secret.
 */
export class KeptEndpoint {
  /** Tells this endpoint from others; part of its URL. */
  readonly name: string;
  readonly #for: string;
  readonly #folder: string;
  readonly #file: string;

  constructor(dataDir: string, purpose: string) {
    this.name = createHash('sha256').update(purpose).digest('hex').slice(0, 12);
    this.#for = purpose;
    this.#folder = join(dataDir, FOLDER);
    this.#file = join(this.#folder, `${this.name}.json`);
  }

  /** Returns what is kept; of a file that cannot be read, nothing: the endpoint is found again by its URL. */
  read(): Kept {
    try {
      const parsed: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      if (isKept(parsed, this.#for)) return parsed;
    } catch {
      // There is none yet, or somebody has edited it.
    }
    return { for: this.#for };
  }

  /** Changes some values, and returns all. The file is replaced as a whole. */
  change(values: Partial<Omit<Kept, 'for'>>): Kept {
    const kept = { ...this.read(), ...values };
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const part = `${this.#file}.${process.pid}.part`;
    writeFileSync(part, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    renameSync(part, this.#file);
    return kept;
  }
}

/** Returns the secret of an endpoint that is kept in this data directory; undefined for any other. */
export function keptSecret(dataDir: string, endpoint: string): string | undefined {
  return keptFile(dataDir, endpoint)?.kept.secret;
}

/** Deletes what this data directory keeps of an endpoint. */
export function forgetKept(dataDir: string, endpoint: string): void {
  const found = keptFile(dataDir, endpoint);
  if (found !== undefined) rmSync(found.file, { force: true });
}

function keptFile(
  dataDir: string,
  endpoint: string,
): { readonly file: string; readonly kept: Partial<Kept> } | undefined {
  const folder = join(dataDir, FOLDER);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  for (const name of names) {
    const file = join(folder, name);
    try {
      const kept: Partial<Kept> = JSON.parse(readFileSync(file, 'utf8'));
      if (kept.endpoint === endpoint) return { file, kept };
    } catch {
      // Incomplete, or edited.
    }
  }
  return undefined;
}

function isKept(value: unknown, purpose: string): value is Kept {
  return typeof value === 'object' && value !== null && 'for' in value && value.for === purpose;
}

export interface WantedEndpoint {
  readonly url: string;
  readonly description: string;
  /** null = every type. */
  readonly events: readonly EventType[] | null;
  /** Absent = that of the API key, or as the endpoint has it. */
  readonly apiVersion?: ApiVersion | undefined;
}

/** How the endpoint came by its secret. */
type SecretOrigin = 'kept' | 'new' | 'replaced';

export interface ReadyEndpoint {
  readonly uuid: string;
  readonly secret: string;
  readonly origin: SecretOrigin;
  /** It was created, enabled or changed: events that are accepted within the next second may not reach it. */
  readonly isChanged: boolean;
}

/** An endpoint gets every event acknowledged a second or more after its creation (design: the directory). */
export const ENDPOINT_IN_FORCE_MS = 1100;

/** The longest description that the API takes. */
const DESCRIPTION_MAX = 255;

/**
 * Makes the kept endpoint as it is wanted, and active: the one of the last run, one that is found by its URL's path, or
 * a new one. A secret that is not known (it was rotated by another command, or the file is lost) is rotated.
 */
export async function ensureEndpoint(
  api: MerchantApi,
  kept: KeptEndpoint,
  wanted: WantedEndpoint,
): Promise<ReadyEndpoint> {
  const { endpoint, secret, since } = kept.read();
  const known = await findEndpoint(api, endpoint, wanted.url);
  if (known === undefined) {
    const made = await api.createEndpoint({
      url: wanted.url,
      description: described(wanted),
      ...(wanted.events === null ? {} : { subscribed_events: [...wanted.events] }),
      ...(wanted.apiVersion === undefined ? {} : { api_version: wanted.apiVersion }),
    });
    const { uuid, signing_secret: first, created_at } = made;
    kept.change({ endpoint: uuid, secret: first, since: created_at });
    return { uuid, secret: first, origin: 'new', isChanged: true };
  }
  const { uuid } = known;
  const change = changeOf(known, wanted);
  const isChanged = change !== undefined;
  if (change !== undefined) await api.updateEndpoint(uuid, change);
  if (secret !== undefined && secretHint(secret) === known.secret_hint) {
    kept.change({ endpoint: uuid });
    return { uuid, secret, origin: 'kept', isChanged };
  }
  const { signing_secret: replaced } = await api.rotateSecret(uuid);
  kept.change({ endpoint: uuid, secret: replaced, since: since ?? known.created_at });
  return { uuid, secret: replaced, origin: 'replaced', isChanged: true };
}

/** Disables a kept endpoint: what happens meanwhile is recorded as skipped. One that is gone is left alone. */
export async function disableEndpoint(api: MerchantApi, kept: KeptEndpoint): Promise<void> {
  const { endpoint } = kept.read();
  if (endpoint === undefined) return;
  await api.updateEndpoint(endpoint, { status: 'disabled' }).catch(ignoreNotFound);
}

async function findEndpoint(
  api: MerchantApi,
  uuid: string | undefined,
  url: string,
): Promise<EndpointAnswer | undefined> {
  const remembered = uuid === undefined ? undefined : await api.endpoint(uuid).catch(ignoreNotFound);
  if (remembered) return remembered;
  // Its path has this endpoint's name; the port may have been another.
  const { pathname } = new URL(url);
  const isOwn = (endpoint: EndpointAnswer) =>
    URL.canParse(endpoint.url) && new URL(endpoint.url).pathname === pathname;
  return (await api.endpoints()).find(isOwn);
}

function changeOf(known: EndpointAnswer, wanted: WantedEndpoint): EndpointChange | undefined {
  const description = described(wanted);
  const isFilterRight =
    JSON.stringify(known.subscribed_events?.toSorted()) === JSON.stringify(wanted.events?.toSorted());
  const { apiVersion } = wanted;
  const change: EndpointChange = {
    ...(known.url === wanted.url ? {} : { url: wanted.url }),
    ...(known.description === description ? {} : { description }),
    ...(known.status === 'active' ? {} : { status: 'active' as const }),
    ...(apiVersion === undefined || apiVersion === known.api_version ? {} : { api_version: apiVersion }),
    ...(isFilterRight ? {} : { subscribed_events: wanted.events === null ? null : [...wanted.events] }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

function described({ description }: WantedEndpoint): string {
  return [...description].slice(0, DESCRIPTION_MAX).join('');
}

/** Turns "there is none" into undefined. */
export function ignoreNotFound(error: unknown): undefined {
  if (error instanceof ApiRefusal && error.status === 404) return undefined;
  throw error;
}
