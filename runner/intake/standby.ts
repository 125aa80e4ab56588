import type { Membership } from "../ports.ts";

/** A failed start of a process may be followed by one that succeeds: the runner must have been unable to run for this long. */
const unableForMs = 3_000;
/** Runners that become unable at once all see each other go, and return. They do not stand by again before this time. */
const againAfterMs = 60_000;

/**
 * Membership of a runner that hands its partitions over to the others while it cannot run anything: its heartbeats say that it retires,
 * and `onMembers` leaves it out. When no other runner is left it keeps its partitions, so that their invocations stay queued in order.
 *
 * A runner is active → standby (unable for 3 s, and others live) → active (able again, or no other is left).
 */
export function withStandby(membership: Membership, canRun: () => boolean, now: () => number): Membership {
  return {
    heldByOthers: (runner) => membership.heldByOthers(runner),
    join: (runner, { onMembers, report }) => {
      let others: readonly string[] = [];
      let unableSince: number | undefined;
      let isStandby = false;
      let notBefore = Number.NEGATIVE_INFINITY;
      const divide = (): void => onMembers(isStandby ? others : [...others, runner].toSorted());
      /** @returns whether that changed */
      const update = (): boolean => {
        const wasStandby = isStandby;
        unableSince = canRun() ? undefined : (unableSince ?? now());
        const isUnable = unableSince !== undefined && now() - unableSince >= unableForMs;
        if (wasStandby && others.length === 0) notBefore = now() + againAfterMs;
        isStandby = isUnable && others.length > 0 && now() >= notBefore;
        return isStandby !== wasStandby;
      };
      return membership.join(runner, {
        onMembers: (members) => {
          others = members.filter((member) => member !== runner);
          update();
          divide();
        },
        report: () => {
          if (update()) divide();
          return { ...report(), ...(isStandby ? { isRetiring: true } : {}) };
        },
      });
    },
  };
}
