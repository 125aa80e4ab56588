import type { GeneratedAlways } from "kysely";

export interface AttemptTable {
  readonly webhook: string;
  readonly delivery: string;
  readonly attempt: number;
  readonly n: GeneratedAlways<number>;
  readonly source: string;
  readonly event: string;
  readonly at_ms: number;
  /** JSON of the attempt without its exchange. */
  readonly record: string;
  /** JSON of the Exchange; null: of a send, or recorded by an earlier version. */
  readonly exchange: string | null;
}

export interface DeadLetterTable {
  readonly webhook: string;
  readonly delivery: string;
  readonly n: GeneratedAlways<number>;
  readonly source: string;
  readonly event: string;
  readonly died_ms: number;
  /** JSON of the dead letter without its payload. */
  readonly record: string;
  readonly payload: string;
}

export interface FailingEndpointTable {
  readonly webhook: string;
  readonly disabled_ms: number | null;
  /** JSON of the WebhookFailures. */
  readonly record: string;
}
