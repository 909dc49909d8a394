import { timingSafeEqual } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { parseApiKey } from '../domain/api-key.ts';
import type { Clock } from '../process/clock.ts';
import type { ApiKey, Store } from '../store/store.ts';
import type { ClientAddress } from './access/client-address.ts';
import type { FailedKeys } from './access/failed-keys.ts';
import { ApiError } from './problem.ts';

export type Environment = 'sandbox' | 'production';

const WANTED: Readonly<Record<ApiKey['kind'], string>> = {
  merchant: 'merchant keys (sk_…)',
  producer: 'producer keys (pk_…)',
  platform: 'keys of the platform (plk_…)',
};

const CHALLENGE = { headers: { 'WWW-Authenticate': 'API-Key' } };

/**
 * Accepts a request whose Authorization header has a key of this kind and environment. The key is looked up for every
 * request: a revoked one is refused from the next request on. An address that sends many requests without a valid key is
 * refused without a look-up.
 */
export function authenticate(
  kind: ApiKey['kind'],
  deps: {
    readonly store: Pick<Store, 'keys'>;
    readonly clock: Clock;
    readonly environment: Environment;
    readonly clientAddress: ClientAddress;
    readonly failedKeys: FailedKeys;
  },
): RequestHandler {
  const { failedKeys, clientAddress, store, environment } = deps;
  return async (request, response, next) => {
    const address = clientAddress(request);
    const hash = failedKeys.read(address, () => keyHash(request.headers.authorization, kind, environment));
    const key = await failedKeys.check(address, hash, () => validKey(store, kind, hash));
    deps.store.keys.touch(key.keyId, deps.clock.wall());
    response.locals.keyId = key.keyId;
    response.locals.isStillValid = async () => (await store.keys.findByHash(key.hash))?.revokedAt === null;
    response.locals.publishRights = key;
    response.locals.scopes = key.scopes;
    response.locals.merchantId = key.merchantId;
    next();
  };
}

async function validKey(
  { keys }: Pick<Store, 'keys'>,
  kind: ApiKey['kind'],
  hash: Uint8Array,
): Promise<ApiKey> {
  const key = await keys.findByHash(hash);
  // The lookup is by hash, so its timing reveals nothing of a key; compared again in constant time all the same.
  const matches = key !== undefined && timingSafeEqual(key.hash, hash);
  if (!matches || key.revokedAt !== null || key.kind !== kind) {
    throw new ApiError('api_key_invalid', 'The key is unknown or was revoked.', CHALLENGE);
  }
  return key;
}

/**
 * Returns the hash of a well-formed key of this environment from the header, or throws the 401 that explains what is
 * wrong.
 */
function keyHash(header: string | undefined, kind: ApiKey['kind'], environment: Environment): Uint8Array {
  if (header === undefined || header.trim() === '') {
    throw new ApiError('api_key_missing', 'The request has no Authorization header.', CHALLENGE);
  }
  const credentials = /^API-Key +(\S+)$/i.exec(header.trim())?.[1];
  if (credentials === undefined) {
    throw new ApiError('api_key_malformed', 'The Authorization header must be "API-Key <key>".', CHALLENGE);
  }
  const parsed = parseApiKey(credentials);
  if (!parsed.ok)
    throw new ApiError('api_key_malformed', `The key is malformed: ${parsed.detail}.`, CHALLENGE);
  if (parsed.kind !== kind) {
    throw new ApiError('api_key_invalid', `This path accepts ${WANTED[kind]} only.`, CHALLENGE);
  }
  if (parsed.environment !== environment) {
    const detail = `This is the ${environment} environment; the key is for ${parsed.environment}.`;
    throw new ApiError('api_key_environment_mismatch', detail, CHALLENGE);
  }
  return parsed.hash;
}

/** Returns the merchant whose key, or session of the console, the request has. Every lookup uses it, so no merchant sees another's data. */
export function merchantOf(response: Response): string {
  const merchantId: unknown = response.locals.merchantId;
  if (typeof merchantId !== 'string') throw new Error('the route does not require a merchant key');
  return merchantId;
}
