/** The indexes below `count` in rendezvous order for a key: a key keeps its order whatever happens to single slots. */
export function rankedIndexes(count: number, key: string): readonly number[] {
  if (count === 1) return [0];
  return Array.from({ length: count }, (_, index) => ({ index, weight: hash(`${index}:${key}`) }))
    .sort((a, b) => b.weight - a.weight)
    .map(({ index }) => index);
}

/** FNV-1a with a final mix, so that similar keys fall far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
