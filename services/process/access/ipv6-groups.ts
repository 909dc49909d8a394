const GROUPS = 8;

/** Returns the eight groups of 16 bits of a valid IPv6 address without a zone. An IPv4 address at its end is two of them. */
export function ipv6Groups(address: string): readonly number[] {
  const [head = '', tail = ''] = address.split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const zeros = Array<number>(Math.max(0, GROUPS - before.length - after.length)).fill(0);
  return [...before, ...zeros, ...after];
}

function groupsOf(text: string): readonly number[] {
  if (text === '') return [];
  return text
    .split(':')
    .flatMap((part) => (part.includes('.') ? ipv4Groups(part) : [Number.parseInt(part, 16)]));
}

function ipv4Groups(address: string): readonly number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}
