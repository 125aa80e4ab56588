/** Four lanes of multiplication and shifts, as MurmurHash mixes; 32 bits each. */
const lanes = [0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93] as const;

/**
 * A short fingerprint of a text, for comparisons only. It begins like the text, so that people recognize
 * it. Collisions do not occur by chance. Intended ones harm only their author.
 */
export function fingerprint(text: string): string {
  const hash = lanes.map((lane) => hashOf(text, lane).toString(16).padStart(8, "0")).join("");
  return `${text.slice(0, 64)}…${text.length}#${hash}`;
}

function hashOf(text: string, lane: number): number {
  let hash = lane;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x85ebca6b);
    hash ^= (hash >>> 13) ^ lane;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Twelve lower-case base36 characters that follow from the text, for ids that are derived from names. Not for texts of other owners. */
export function derivedToken(text: string): string {
  const [first, second] = [0, 2].map((lane) => {
    const high = BigInt(hashOf(text, lanes[lane] ?? 0));
    return ((high << 32n) | BigInt(hashOf(text, lanes[lane + 1] ?? 0))).toString(36).padStart(6, "0").slice(-6);
  });
  return `${first}${second}`;
}
