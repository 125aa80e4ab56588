/**
 * Numbers of the advisory locks, which all clients of a database share. Arbitrary. A released number stays: processes of two versions lock
 * each other out during an upgrade.
 */
export const advisoryLocks = {
  /** Serializes changes of the database's roles. */
  roles: 4_126_871_234,
  /** Serializes processes that migrate, for a session. */
  migrations: 4_126_871_235,
  /** Serializes the transactions of migrations. */
  migrationTransactions: 4_126_871_236,
  /** Serializes publishing and deprecating, so that the bounds and the current version are right. */
  publications: 4_126_871_237,
  /** Replicas of the delivery role sweep at the same time: one of them moves measures. */
  measures: 4_126_871_238,
} as const;
