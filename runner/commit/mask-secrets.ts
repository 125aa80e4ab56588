import type { Commit } from "../../domain/run/commit.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";

/** The parts of a commit that people read, in the event history, in logs, on `$errors` and `$logs`. */
type Readable = Pick<Commit, "run" | "logs" | "error">;

/**
 * Masks secret values in a run's result, received event, logs and error. Events are not masked: a component decides what it emits.
 *
 * @param secrets secret prop values and account credentials by prop name
 */
export function maskSecrets(readable: Readable, secrets: Readonly<Record<string, unknown>> = {}): Readable {
  const { run, logs, error } = readable;
  const isEmpty = logs.length === 0 && error === null && run.result === null;
  if (isEmpty || Object.keys(secrets).length === 0) return readable;
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
