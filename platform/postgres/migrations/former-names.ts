/**
 * The names under which versions up to 0.1 recorded their migrations, by today's names. These versions ran what was not recorded in the order of
 * the names, which contain dates. They are still recorded beside the numbers, so that such a version starts again after a rollback.
 */
export const formerNames: Readonly<Record<string, string>> = {
  "m0001-resources": "2026-11-21-resources",
  "m0002-accounts": "2026-11-21-accounts",
  "m0003-history": "2026-11-21-history",
  "m0004-mirror": "2026-11-22-mirror",
  "m0005-owned-resources": "2026-11-22-owned-resources",
  "m0006-component-library": "2026-11-23-component-library",
  "m0007-owners": "2026-11-24-owners",
  "m0008-log-places": "2026-11-25-log-places",
  "m0009-event-deletions": "2026-11-26-event-deletions",
  "m0010-partitioned-history": "2026-11-26-partitioned-history",
  "m0011-resource-counts": "2026-11-26-resource-counts",
  "m0012-ticks": "2026-11-26-ticks",
  "m0013-failing-endpoints": "2026-11-26-failing-endpoints",
  "m0014-quotas": "2026-11-26-quotas",
  "m0015-plan-weights": "2026-11-27-plan-weights",
  "m0016-scheduled-events": "2026-11-28-scheduled-events",
  "m0017-organizations-of-users": "2026-11-29-organizations-of-users",
  "m0018-source-facts": "2026-11-30-source-facts",
  "m0019-recorder-partitions": "2026-12-01-recorder-partitions",
  "m0020-workflow-runs": "2026-12-02-workflow-runs",
  "m0021-error-mails": "2026-12-03-error-mails",
  "m0022-console-sessions": "2026-12-04-console-sessions",
  "m0023-daily-use": "2026-12-04-daily-use",
  "m0024-audit-log": "2026-12-05-audit-log",
};
