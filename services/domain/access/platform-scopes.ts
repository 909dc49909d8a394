/**
 * The scopes of a key of the platform. A key that was made before there were scopes has none stored: it makes links to the
 * console, as it could then.
 */
export const PLATFORM_SCOPES = [
  'merchants:read',
  'merchants:write',
  'keys:write',
  'portal:write',
  'deliveries:read',
  'replays:write',
  'erasure:write',
  'quarantine:read',
  'quarantine:write',
] as const;
export type PlatformScope = (typeof PLATFORM_SCOPES)[number];

/** The scopes of a key for which none are named. */
export const SCOPES_DEFAULT: readonly PlatformScope[] = ['portal:write'];

/** Returns whether a key with these scopes may do what needs a scope; undefined: none are stored. */
export function permits(scopes: readonly PlatformScope[] | undefined, needed: PlatformScope): boolean {
  return (scopes ?? SCOPES_DEFAULT).includes(needed);
}
