import { Unavailable } from "../../domain/errors.ts";

/** SQLSTATE classes and codes that say "not now": https://www.postgresql.org/docs/current/errcodes-appendix.html */
const passing = /^(08...|53...|57P0[1-5]|57014|25006|40001|40P01)$/;
const network = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
/** What pg says without a code. */
const lost =
  /Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout|not queryable|Cannot use a pool after|client was closed/i;

/** The same error, or Unavailable when another attempt later is right: connection lost, server starting, deadlock, time-out. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (!passing.test(code) && !network.test(code) && !lost.test(error.message)) return error;
  return new Unavailable(`Postgres cannot answer now (${code || error.message}); try again`, {
    code: "database_unavailable",
    cause: error,
  });
}
