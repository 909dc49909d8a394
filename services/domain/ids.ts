import { hash } from 'node:crypto';

/** hookrail's own namespace for UUIDv5 (RFC 9562 §5.5). Fixed for ever: changing it would change every delivery id. */
const NAMESPACE = Buffer.from('6f0d8f5e3c0b4d0e9a3d5b8c7e1f2a64', 'hex');

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** UUIDv5 of the parts joined by "/" in hookrail's namespace: same parts, same id, on every machine, for ever. */
export function uuidV5(...parts: readonly string[]): string {
  const named = Buffer.concat([NAMESPACE, Buffer.from(parts.join('/'))]);
  const digest = hash('sha1', named, 'buffer');
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The delivery of one event to one endpoint: the same however often the event is routed. */
export function deliveryId(eventId: string, endpointId: string): string {
  return uuidV5(eventId, endpointId);
}

/** The endpoint of the single-URL operation (decisions §3): one per environment and merchant, with a uuid for ever. */
export function legacyEndpointId(environment: string, merchantId: string): string {
  return uuidV5('legacy-endpoint', environment, merchantId);
}

/** Whether an id comes again: it was made of parts, not by chance (RFC 9562 §4.2, the version's digit). */
export function isMadeOfParts(uuid: string): boolean {
  return uuid[14] === '5';
}

/** A delivery that someone asked for (test, resend, replay): `request` is the id of the request that asked. */
export function requestedDeliveryId(request: string, eventId: string, endpointId: string): string {
  return uuidV5(request, eventId, endpointId);
}
