import { hash } from 'node:crypto';

/** hookrail's own namespace for UUIDv5 (RFC 9562 §5.5). Never change it: every delivery id would change. */
const NAMESPACE = Buffer.from('6f0d8f5e3c0b4d0e9a3d5b8c7e1f2a64', 'hex');

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/**
 * The input of the hash: the namespace, then the name. All names that fit share the buffer; every delivery needs an
 * id.
 */
const named = Buffer.concat([NAMESPACE, Buffer.alloc(1024)]);
/** A UTF-16 unit takes three bytes of UTF-8 at most. */
const NAME_LENGTH_MAX = 1024 / 3;

/** Returns the UUIDv5 of the parts, joined by "/", in hookrail's namespace. The same parts always give the same id. */
export function uuidV5(...parts: readonly string[]): string {
  const name = parts.join('/');
  const bytes =
    name.length > NAME_LENGTH_MAX
      ? Buffer.concat([NAMESPACE, Buffer.from(name)])
      : named.subarray(0, NAMESPACE.length + named.write(name, NAMESPACE.length));
  const hex = hash('sha1', bytes, 'hex');
  // RFC 9562 §5.5: the version in four bits, the variant in two.
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Returns the id of the delivery of one event to one endpoint: the same however often the event is routed. */
export function deliveryId(eventId: string, endpointId: string): string {
  return uuidV5(eventId, endpointId);
}

/** Returns the id of the endpoint of the single-URL operation: one per environment and merchant, permanent. */
export function legacyEndpointId(environment: string, merchantId: string): string {
  return uuidV5('legacy-endpoint', environment, merchantId);
}

/** Returns whether an id is derived from parts rather than random (RFC 9562 §4.2, the version's digit). */
export function isMadeOfParts(uuid: string): boolean {
  return uuid[14] === '5';
}

/** Returns the id of a requested delivery (test, resend, replay); `request` is the id of the request. */
export function requestedDeliveryId(request: string, eventId: string, endpointId: string): string {
  return uuidV5(request, eventId, endpointId);
}
