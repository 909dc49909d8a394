const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/** Returns a key's partition like Java's default partitioner and all other clients: (murmur2 & 0x7fffffff) % count. */
export function partitionOfKey(key: Uint8Array, count: number): number {
  return (murmur2(key) & 0x7fffffff) % count;
}

/** Equals kafkajs's, which takes twenty times as long because it computes with 64-bit objects instead of 32 bits. */
function murmur2(key: Uint8Array): number {
  const { length } = key;
  const wholeWords = length & ~3;
  let hash = SEED ^ length;
  for (let i = 0; i < wholeWords; i += 4) {
    const word = Math.imul(
      byte(key, i) | (byte(key, i + 1) << 8) | (byte(key, i + 2) << 16) | (byte(key, i + 3) << 24),
      M,
    );
    hash = Math.imul(hash, M) ^ Math.imul(word ^ (word >>> 24), M);
  }
  if (length > wholeWords) {
    for (let i = length - 1; i >= wholeWords; i -= 1) hash ^= byte(key, i) << (8 * (i - wholeWords));
    hash = Math.imul(hash, M);
  }
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
}

function byte(key: Uint8Array, index: number): number {
  return key[index] ?? 0;
}
