/**
 * 32 bits, unsigned, the same for the life of an installation: FNV-1a over the characters, then MurmurHash3's final mix, because the low
 * bits of FNV alone are poor for ids that differ at the end.
 */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
