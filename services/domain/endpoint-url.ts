/** Exemptions from the address rules: a sandbox's receivers on the developer's machine. Empty in production. */
export interface EgressExemptions {
  /** Returns whether this host name (lower case, ASCII) is exempt, whatever it resolves to. */
  name(host: string): boolean;
  /** Returns whether this address (no brackets) is exempt. */
  address(ip: string): boolean;
}

export interface EndpointUrlPolicy {
  /** Ports an endpoint may have (HOOKRAIL_EGRESS_PORTS). An exempt host may have any. */
  readonly ports: readonly number[];
  readonly allow: EgressExemptions;
}

/** The rules that can refuse a URL: stable names, shown to merchants. */
export const ENDPOINT_URL_RULES = [
  'https_only',
  'length',
  'forbidden_character',
  'malformed',
  'userinfo',
  'fragment',
  'address_literal',
  'single_label',
  'reserved_name',
  'port',
] as const;
export type EndpointUrlRule = (typeof ENDPOINT_URL_RULES)[number];

export type EndpointUrlVerdict =
  /** `url`: the canonical ASCII form, which is stored, shown and compared. */
  | { readonly ok: true; readonly url: string }
  | {
      readonly ok: false;
      readonly code: 'url_scheme_not_https' | 'url_not_allowed';
      readonly rule: EndpointUrlRule;
      readonly detail: string;
    };

const URL_CHARACTERS_MAX = 2048;
const HOST_CHARACTERS_MAX = 253;
const HTTPS_PORT = 443;

/**
 * Control, space, format and other invisible characters, and the backslash: URL parsers drop or fold some silently.
 */
const FORBIDDEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\\]/u;

/** A label of a host name. Underscores are not allowed by the standard, but names with them exist. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/**
 * Suffixes of names that are never a merchant's public host: special use (RFC 6761, 6762, 7686, 8375, 9476); reverse
 * lookup; undelegated ones used by private networks, clusters, container hosts and alternative roots; and names under
 * which clouds serve metadata or number their virtual machines. None is a delegated top-level domain.
 */
const RESERVED_SUFFIXES: ReadonlySet<string> = new Set([
  'alt',
  'api.metadata.cloud.ibm.com',
  'arpa',
  'cluster',
  'consul',
  'corp',
  'docker',
  'domain',
  'ec2',
  'example',
  'fritz.box',
  'home',
  'i2p',
  'incus',
  'internal',
  'internal.cloudapp.net',
  'intra',
  'intranet',
  'invalid',
  'k8s',
  'kube',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'localnet',
  'lxd',
  'mail',
  'mesh',
  'metadata.goog',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
  'nomad',
  'onion',
  'podman',
  'priv',
  'private',
  'svc',
  'test',
  'ts.net',
  'vagrant',
  'workgroup',
]);

/**
 * Checks a URL's syntax at create and update (docs/decisions.md, "URL rules"), on the raw string as the merchant sent
 * it. The sender checks at every connection what the name resolves to.
 */
export function checkEndpointUrl(raw: string, policy: EndpointUrlPolicy): EndpointUrlVerdict {
  if (raw.length > URL_CHARACTERS_MAX) {
    return refused(
      'length',
      `the URL has ${raw.length} characters; at most ${URL_CHARACTERS_MAX} are allowed`,
    );
  }
  if (FORBIDDEN.test(raw)) {
    return refused('forbidden_character', 'the URL has a space, control, invisible or backslash character');
  }
  const [, authority] = /^https:\/\/([^/?#]*)/.exec(raw) ?? [];
  if (authority === undefined) {
    const detail = 'the URL must start with "https://"';
    return { ok: false, code: 'url_scheme_not_https', rule: 'https_only', detail };
  }
  if (authority === '') return refused('malformed', 'the URL has no host after "https://"');
  if (authority.includes('@')) return refused('userinfo', 'the URL must not have a user name or password');
  // Parsers decode these in a host, so the host read would not be the host called.
  if (authority.includes('%')) return refused('malformed', 'the host must not be percent-encoded');
  if (raw.includes('#')) return refused('fragment', 'the URL must not have a fragment ("#")');
  if (!URL.canParse(raw)) return refused('malformed', 'the URL cannot be parsed: check its host and port');
  return checkParsed(new URL(raw), policy);
}

function checkParsed(url: URL, policy: EndpointUrlPolicy): EndpointUrlVerdict {
  const exempt = isExempt(url.hostname, policy.allow);
  if (!exempt) {
    const refusal = checkHost(url.hostname) ?? checkPort(url.port, policy.ports);
    if (refusal) return refusal;
  }
  // Non-ASCII characters grow when they are percent-encoded.
  if (url.href.length > URL_CHARACTERS_MAX) {
    return refused(
      'length',
      `the URL in ASCII has ${url.href.length} characters; at most ${URL_CHARACTERS_MAX}`,
    );
  }
  return { ok: true, url: url.href };
}

/** Matches a literal by its address and a name by itself; the URL parser has normalised both. */
function isExempt(hostname: string, allow: EgressExemptions): boolean {
  const literal = literalOf(hostname);
  return literal === null ? allow.name(hostname) : allow.address(literal);
}

/** Returns the address when the host is one (the URL parser writes every IPv4 spelling as four numbers), or null. */
function literalOf(hostname: string): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : null;
}

function checkHost(hostname: string): EndpointUrlVerdict | null {
  if (literalOf(hostname) !== null) {
    return refused('address_literal', 'the host must be a DNS name, not an IP address');
  }
  const labels = hostname.split('.');
  if (hostname.length > HOST_CHARACTERS_MAX || !labels.every((label) => LABEL.test(label))) {
    return refused('malformed', 'the host is not a DNS name: labels of 1 to 63 letters, digits, "-" or "_"');
  }
  const reserved = labels
    .map((_, index) => labels.slice(index).join('.'))
    .find((suffix) => RESERVED_SUFFIXES.has(suffix));
  if (reserved) return refused('reserved_name', `"${reserved}" and the names under it are not public`);
  if (labels.length < 2) return refused('single_label', 'the host must be a full DNS name with a dot');
  return null;
}

function checkPort(port: string, allowed: readonly number[]): EndpointUrlVerdict | null {
  if (allowed.includes(port === '' ? HTTPS_PORT : Number(port))) return null;
  return refused('port', `port ${port || HTTPS_PORT} is not allowed; allowed: ${allowed.join(', ')}`);
}

function refused(rule: EndpointUrlRule, detail: string): EndpointUrlVerdict {
  return { ok: false, code: 'url_not_allowed', rule, detail };
}
