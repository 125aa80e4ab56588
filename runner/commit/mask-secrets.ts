import type { Commit } from "../../domain/run/commit.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";

/** The parts of a commit that people read: in the history, in the log, on `$errors` and `$logs`. */
type Shown = Pick<Commit, "run" | "logs" | "error">;

/**
 * Masks secret values in everything that can be read of a run but its events: what a component emits is its own decision.
 *
 * @param secrets secret prop values and credentials of accounts by prop name
 */
export function withoutSecrets(shown: Shown, secrets: Readonly<Record<string, unknown>> = {}): Shown {
  const { run, logs, error } = shown;
  const isSilent = logs.length === 0 && error === null && run.result === null;
  if (isSilent || Object.keys(secrets).length === 0) return shown;
  const mask = new SecretMask(secrets);
  return {
    run: {
      ...run,
      result: run.result === null ? null : mask.json(run.result),
      ...(run.received === undefined ? {} : { received: mask.json(run.received) }),
    },
    logs: logs.map((record) => mask.record(record)),
    error: error === null ? null : mask.error(error),
  };
}
