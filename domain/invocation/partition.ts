import { partitionCount } from "../subjects.ts";

/**
 * Which partition of its pool an id belongs to: 0 to 15, for the life of an installation. FNV-1a (32 bits) over the characters,
 * then MurmurHash3's final mix, because the low bits of FNV alone are poor for ids that differ at the end.
 */
export function partitionOf(id: string): number {
  return hash(id) % partitionCount;
}

/** Messages of a partition that may be handed out and not acked: the backlogs of eight owners at their bound (domain/limits/admission.ts). */
export const partitionWindow = 65_536;

/**
 * The member (runner, delivery replica) that reads a partition: the one with the highest score for it (rendezvous hashing). Every member computes
 * the same from the same list; when one comes or goes, only the partitions that it gains or had move. Undefined without members.
 */
export function ownerOf(partition: number, members: Iterable<string>): string | undefined {
  let [best, bestScore] = [undefined as string | undefined, -1];
  for (const member of members) {
    const score = hash(`${partition}/${member}`);
    // Equal scores are settled by name, so that the order of the list never matters.
    if (score > bestScore || (score === bestScore && best !== undefined && member < best)) [best, bestScore] = [member, score];
  }
  return best;
}

/** Ascending, of the first `count` partitions. `members` must name the member itself for it to own anything. */
export function partitionsOf(member: string, members: readonly string[], count: number = partitionCount): readonly number[] {
  return Array.from({ length: count }, (_, partition) => partition).filter((partition) => ownerOf(partition, members) === member);
}

/** 32 bits, unsigned. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
