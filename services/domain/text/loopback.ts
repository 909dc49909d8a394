/** A part of an IPv4 address as it is written canonically: 0 to 255, with no zero before it. */
const PART = String.raw`(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])`;
const IPV4 = new RegExp(String.raw`^127(?:\.${PART}){3}$`);

/**
 * Returns whether a host is this machine by itself, whatever DNS says: `localhost`, an IPv4 address of 127.0.0.0/8 in
 * four canonical parts, or `::1`, with or without brackets. Any other spelling is not: give the host as a parsed URL
 * has it. A name that only looks like an address (`127.0.0.1.example.com`) is whatever its owner says.
 */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || IPV4.test(host);
}
