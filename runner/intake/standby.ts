import type { Membership } from "./ports.ts";

/** How long a runner must have been unable to run before it stands by: one failed process start may be followed by a successful one. */
const minUnableMs = 3_000;
/** How long a runner stays active after it returned because no other was left. Otherwise runners that fail together would alternate. */
const minActiveMs = 60_000;

/**
 * A view of the membership that hands the partitions over to other runners while this one cannot run anything: its heartbeats say that it
 * retires, and `onMembers` leaves it out.
 *
 *     active ── unable to run for 3 s, and others live ──▶ standby
 *       ▲                                                     │
 *       └──── able to run again, or no other runner left ◀────┘
 *
 * When no other runner is left it keeps its partitions, so that their invocations stay queued in order.
 */
export function withStandby(membership: Membership, canRun: () => boolean, now: () => number): Membership {
  return {
    heldByOthers: (runner) => membership.heldByOthers(runner),
    join: (runner, { onMembers, report }) => {
      let others: readonly string[] = [];
      let unableSince: number | undefined;
      let isStandby = false;
      let notBefore = Number.NEGATIVE_INFINITY;
      const notifyMembers = (): void => onMembers(isStandby ? others : [...others, runner].toSorted());
      /** @returns whether the state changed */
      const update = (): boolean => {
        const wasStandby = isStandby;
        unableSince = canRun() ? undefined : (unableSince ?? now());
        const isUnable = unableSince !== undefined && now() - unableSince >= minUnableMs;
        if (wasStandby && others.length === 0) notBefore = now() + minActiveMs;
        isStandby = isUnable && others.length > 0 && now() >= notBefore;
        return isStandby !== wasStandby;
      };
      return membership.join(runner, {
        onMembers: (members) => {
          others = members.filter((member) => member !== runner);
          update();
          notifyMembers();
        },
        report: () => {
          if (update()) notifyMembers();
          return { ...report(), ...(isStandby ? { isRetiring: true } : {}) };
        },
      });
    },
  };
}
