import { hash } from "../hash.ts";
import { partitionCount } from "../subjects.ts";

/**
 * The partition of an id within its pool: 0 to 15, the same for the life of an installation. A run of a workflow, `p_a.r_b`, is in the
 * partition of the workflow.
 */
export function partitionOf(id: string): number {
  const end = id.indexOf(".");
  return hash(end < 0 ? id : id.slice(0, end)) % partitionCount;
}

/** Maximum delivered messages of a partition that are not acked: the full backlogs of eight owners (domain/limits/admission.ts). */
export const partitionWindow = 65_536;

/**
 * The member (runner or delivery replica) that reads a partition: the one with the highest score for it (rendezvous hashing). All members
 * compute the same result from the same list. When a member joins or leaves, only its own partitions move. Undefined without members.
 */
export function memberOf(partition: number, members: Iterable<string>): string | undefined {
  let [best, bestScore] = [undefined as string | undefined, -1];
  for (const member of members) {
    const score = hash(`${partition}/${member}`);
    // Names decide between equal scores, so that the order of the list does not matter.
    if (score > bestScore || (score === bestScore && best !== undefined && member < best)) [best, bestScore] = [member, score];
  }
  return best;
}

/** The partitions of a member, ascending, among the first `count`. Empty unless `members` includes the member. */
export function partitionsOf(member: string, members: readonly string[], count: number = partitionCount): readonly number[] {
  return Array.from({ length: count }, (_, partition) => partition).filter((partition) => memberOf(partition, members) === member);
}
